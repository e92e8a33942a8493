#pragma once

#include <string>
#include <vector>

#include "telemetry/trace_recorder.hpp"

namespace weft::telemetry {

// What the threads have recorded, put together.
struct trace_recording {
  std::vector<traced_lane> lanes;
  std::vector<std::string> names;  // names[n - 1] has the number n
  std::vector<log_book::page> pages;
  tick_clock::scale time;
  std::chrono::steady_clock::time_point taken;
};

// As a document for Perfetto: a process for each scheduler, a track for each of its workers.
[[nodiscard]] std::string draw(const trace_recording& recording);

}  // namespace weft::telemetry
