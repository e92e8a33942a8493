#pragma once

#include <cstdint>
#include <system_error>

namespace weft {

// The scheduling class of threads that compute.
enum class cpu_class : std::uint8_t {
  normal,
  low,  // runs while no other thread of the machine wants the core
};

namespace io {

// Puts the calling thread into the low class: SCHED_IDLE, or the highest nice value where that is
// refused. Without privilege there is no way back, and threads and processes that the thread
// creates begin in the same class; weft::process starts commands in that of its supervisor.
// An error when the system refuses both; the thread then is as it was.
[[nodiscard]] std::error_code lower_this_thread() noexcept;

}  // namespace io
}  // namespace weft
