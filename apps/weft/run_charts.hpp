#pragma once

#include <optional>
#include <string>

#include <weft/batch/benchmark.hpp>
#include <weft/batch/report.hpp>

#include "terminal.hpp"

namespace weft::cli {

// What happened in a run, drawn with characters. Each is a headline, a drawing that fits the
// terminal, and what its signs mean.

// A line for each worker: what it did when.
[[nodiscard]] std::string timeline_chart(const run_report& report, const terminal& look);
// How much of the run each worker was busy.
[[nodiscard]] std::string utilization_chart(const run_report& report, const terminal& look);
// Who stole from whom.
[[nodiscard]] std::string stealing_chart(const run_report& report, const terminal& look);
// From the lower bound to what the run took.
[[nodiscard]] std::string efficiency_chart(const run_report& report, const terminal& look);
// What other ways to run it would have taken, and what a benchmark has measured.
[[nodiscard]] std::string comparison_chart(const run_report& report,
                                           const std::optional<batch::benchmark_result>& measured,
                                           const terminal& look);

}  // namespace weft::cli
