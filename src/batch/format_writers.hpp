#pragma once

#include <string>

#include <weft/batch/report.hpp>

namespace weft::batch {

// One for each weft::report_format but JSON.
[[nodiscard]] std::string to_junit(const run_report& report);
[[nodiscard]] std::string to_tap(const run_report& report);
[[nodiscard]] std::string to_sarif(const run_report& report);
[[nodiscard]] std::string to_github(const run_report& report);

}  // namespace weft::batch
