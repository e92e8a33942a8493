#pragma once

#include <string>

#include <weft/batch/report.hpp>

namespace weft::batch {

// A run as a trace for https://ui.perfetto.dev or chrome://tracing: a track for each worker, a
// slice for each attempt, arrows from what a rule waited for and from whom it was stolen, counters
// of ready and running rules and their memory.
[[nodiscard]] std::string to_trace(const run_report& report);

}  // namespace weft::batch
