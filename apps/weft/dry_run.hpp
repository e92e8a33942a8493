#pragma once

#include <string>

#include <weft/batch/runner.hpp>

namespace weft::cli {

// When each rule would run if all took what they are expected to, and how long that would be.
[[nodiscard]] std::string describe_dry_run(const plan& p, const run_options& how, bool as_json);

}  // namespace weft::cli
