#pragma once

#include <optional>
#include <string>

#include <weft/batch/benchmark.hpp>
#include <weft/batch/history.hpp>
#include <weft/batch/report.hpp>

namespace weft::batch {

struct html_options {
  history past = {};                                         // for the table of rules
  std::optional<benchmark_result> benchmark = std::nullopt;  // real times beside the simulated ones
};

// One HTML file that needs nothing else: no network, no other file. Deterministic.
[[nodiscard]] std::string to_html(const run_report& report, const html_options& options = {});

}  // namespace weft::batch
