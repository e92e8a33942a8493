#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/batch/event_log.hpp>

namespace weft::cli {

inline constexpr const char* default_runs = ".weft/runs";

// The log that `named` means: a file, the id of a run in `directory`, or the beginning of one;
// empty: the newest. Errors: missing_input when there is none, bad_data for a file that is no log.
[[nodiscard]] result<batch::logged_run> find_run(const std::string& named,
                                                 const std::string& directory);

}  // namespace weft::cli
