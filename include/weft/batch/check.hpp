#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include <weft/batch/rule_result.hpp>

namespace weft::batch {

// Checks that run in this process, so that hundreds of them need no hundreds of processes. `files`
// is a path or a glob: `*` and `?` within a name, `**` across directories, `[a-z]`, `{a,b}`.

// There is at least one such file or directory.
struct exists {
  std::string files;
};
// There is none.
struct absent {
  std::string files;
};
// Every file has a line in which the pattern (RE2) is found.
struct matches {
  std::string pattern;
  std::string files;
};
// No file has one.
struct lacks {
  std::string pattern;
  std::string files;
};
// No file is larger.
struct max_size {
  std::uint64_t bytes = 0;
  std::string files;
};
// So many files there are.
struct count {
  std::string files;
  std::uint64_t at_least = 0;
  std::optional<std::uint64_t> at_most = std::nullopt;
};
// Every file is valid JSON, or TOML.
struct json_valid {
  std::string files;
};
struct toml_valid {
  std::string files;
};

using check = std::variant<exists, absent, matches, lacks, max_size, count, json_valid, toml_valid>;

// The name of the check as a plan file writes it: "exists", "max_size".
[[nodiscard]] std::string_view name_of(const check& what) noexcept;

// What is wrong with the check itself, such as a pattern that is none; nothing if it is fine.
[[nodiscard]] std::optional<std::string> find_problem(const check& what);

// Performs it below `directory` (empty: the current one). The message names the files, and for
// patterns the lines, up to a few. A check that looks at no file at all fails and says so, unless
// that is what it is about.
[[nodiscard]] rule_result perform(const check& what, const std::string& directory,
                                  const std::stop_token& stop);

}  // namespace weft::batch
