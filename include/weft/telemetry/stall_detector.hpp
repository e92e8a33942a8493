#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/telemetry/trace.hpp>

namespace weft {

struct stall_report {
  std::vector<stall> stalls;  // the longest first
  std::string dump;           // what the threads and tasks of their schedulers do

  // For people: a line for each stall, and the dump.
  [[nodiscard]] std::string text() const;
};

struct stall_options {
  // At least a millisecond.
  std::chrono::milliseconds limit = std::chrono::seconds(30);
  // The lane for calls that block is left out: to hold its threads is what it is for.
  bool blocking_lane = false;
  // Is called by the detector's thread. Without one, the text goes to the standard error.
  std::function<void(const stall_report&)> on_stall = {};
};

// Watches for tasks that do not give their thread back:
//
//   weft::trace trace;
//   auto entry = trace.add("main", scheduler);
//   trace.start();
//   weft::stall_detector detector(trace, {.limit = 30s});
//
//   weft: task "resize" has held worker 3 of "main" for 30 s
//
// A stall is reported when it passes the limit, and again whenever its length has doubled. Of tasks
// that run on top of each other, since one waits and its worker helps others, the uppermost counts.
// Only what begins while the trace is on is seen. A function that pool::run() calls in the caller's
// own thread is left out: it is often the whole program.
//
// Threads: one of its own, which looks four times in the limit, at most once a millisecond and at
//   least once a second; it touches no worker. Errors: std::invalid_argument for a limit below a
//   millisecond; std::system_error without a thread. What on_stall throws ends the program.
// Lifetime: ends before the trace. Not in a forked child.
class stall_detector {
 public:
  explicit stall_detector(const trace& of, stall_options options = {});
  ~stall_detector();  // waits for an on_stall that is under way
  stall_detector(const stall_detector&) = delete;
  stall_detector& operator=(const stall_detector&) = delete;

 private:
  class watch;
  std::unique_ptr<watch> watch_;
};

}  // namespace weft
