#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::base {

/// How many bytes the character takes with which `text` begins; 0 if those bytes are not UTF-8:
/// overlong forms, surrogates and what lies beyond Unicode are not.
[[nodiscard]] std::size_t utf8_character(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Text from outside as a terminal or a log may show it: control characters and bytes that are not
/// UTF-8 become \x1b, everything else stays.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace weft::base
