#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weft {

// A task that began some time ago on a thread, and has not ended.
struct stall {
  std::string scheduler;  // the name under which it was added to the trace
  std::string lane;       // "cpu", "io 0", "blocking"; empty for a pool
  unsigned worker = 0;    // its number in the lane
  bool is_blocking_lane = false;
  std::string task;  // empty: it has no name
  // False: it waits, and its thread runs something else meanwhile.
  bool is_on_top = true;
  std::chrono::nanoseconds held{};
  std::uint64_t id = 0;  // the same as long as it goes on, and of no other one of that worker

  // For people: task "resize" has held worker 3 of "main" for 30 s.
  [[nodiscard]] std::string text() const;
};

}  // namespace weft
