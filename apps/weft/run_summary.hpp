#pragma once

#include <cstddef>
#include <string>

#include <weft/batch/report.hpp>

#include "run_display.hpp"

namespace weft::cli {

// What a run was like, for people, in lines that fit so many columns.
[[nodiscard]] std::string summary(const run_report& report, verbosity how, std::size_t columns);

}  // namespace weft::cli
