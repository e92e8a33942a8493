#pragma once

#include <string>

#include <weft/batch/report.hpp>

#include "run_display.hpp"

namespace weft::cli {

// What a run was like, for people.
[[nodiscard]] std::string summary(const run_report& report, verbosity how);

}  // namespace weft::cli
