#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::batch {

// The line of a TOML text with a key of more than a thousand parts, a.b.c and so on. The parser
// follows such a key by recursion, and one of a million parts would overflow the stack.
[[nodiscard]] std::optional<std::size_t> line_of_endless_key(std::string_view text) noexcept;

// Why a text is no JSON, or no TOML, with line and column; nothing if it is.
[[nodiscard]] std::optional<std::string> json_problem(std::string_view text);
[[nodiscard]] std::optional<std::string> toml_problem(std::string_view text);

}  // namespace weft::batch
