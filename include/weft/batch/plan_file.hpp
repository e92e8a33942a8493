#pragma once

#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/batch/plan.hpp>

namespace weft::batch {

// Reads a plan from a TOML file. Commands and checks happen in the directory of the file, or in the
// `cwd` of [plan], which is relative to it.
//
// Errors: missing_input, bad_data. The message has one line for each problem, up to twenty:
// file:line:column, the key, what was expected, and for a misspelt key the nearest one.
[[nodiscard]] result<plan> load_plan(const std::string& path);

// The same from text; `origin` stands for the file in messages, `directory` for its directory.
[[nodiscard]] result<plan> parse_plan(std::string_view text, const std::string& origin,
                                      const std::string& directory);

// One rule for each line of `text` that is neither empty nor a comment: `weft run -`. The id is the
// line itself, and a line that comes again gets a number. A line without shell syntax is run
// without a shell.
[[nodiscard]] result<plan> plan_of_commands(std::string_view text);

}  // namespace weft::batch
