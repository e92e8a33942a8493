#pragma once

#include <string>

#include <weft/batch/plan.hpp>

namespace weft::cli {

// The plan that an argument names: a file, or - for the commands that standard input has, one a
// line. Errors: refusal.
[[nodiscard]] plan must_load_plan(const std::string& named);

}  // namespace weft::cli
