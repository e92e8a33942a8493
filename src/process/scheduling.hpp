#pragma once

namespace weft::process {

// How the system's scheduler treats a thread. Threads and programs inherit it from the thread that
// starts them.
struct standing {
  bool is_idle_class = false;  // SCHED_IDLE
  int nice = 0;
};

[[nodiscard]] standing standing_of_this_thread() noexcept;
// The thread that runs main(), whose class is that of the program to everybody outside.
[[nodiscard]] standing standing_of_main_thread() noexcept;

[[nodiscard]] bool is_lowered(const standing& who, const standing& against) noexcept;

// Up to the main thread, as far as the system permits; without privilege it does not.
void raise_this_thread() noexcept;

}  // namespace weft::process
