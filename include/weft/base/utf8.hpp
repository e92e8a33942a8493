#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::base {

// How many bytes the character takes with which `text`, which is not empty, begins; 0 if those
// bytes are not UTF-8: overlong forms, surrogates and what lies beyond Unicode are not.
[[nodiscard]] std::size_t utf8_character(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// The text with U+FFFD in the place of every byte that is no part of a character.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// Has a character that would move a cursor, ring a bell or end a line.
[[nodiscard]] bool has_control(std::string_view text) noexcept;

// The text with control characters and bytes that are no UTF-8 written as \n, \t, \x1b: safe to
// show on a terminal, in one line.
[[nodiscard]] std::string printable(std::string_view text);

// The same for text of many lines: line ends and tabs stay as they are.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace weft::base
