#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::batch {

// The line of a TOML text with a key of more than a thousand parts, a.b.c and so on. The parser
// follows such a key by recursion, and one of a million parts would overflow the stack.
[[nodiscard]] std::optional<std::size_t> line_of_endless_key(std::string_view text) noexcept;

// Why a text is not what it should be.
struct text_problem {
  std::size_t line = 0;  // 0: unknown
  std::string what;      // names line and column as well
};

// Why a text is no JSON, or no TOML; nothing if it is.
[[nodiscard]] std::optional<text_problem> json_problem(std::string_view text);
[[nodiscard]] std::optional<text_problem> toml_problem(std::string_view text);

}  // namespace weft::batch
