#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace weft::cli {

// "1 rule", "2 rules".
[[nodiscard]] std::string counted(std::size_t number, std::string_view thing);

// Columns that a text takes on a terminal.
[[nodiscard]] std::size_t width_of(std::string_view text);

// The text with blanks after it, or cut off, so that it takes `width` columns.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

// The same, but with two dots at the end of what was cut off.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

// Every line with something before it, and a line end after the last.
[[nodiscard]] std::string indented(std::string_view text, std::string_view before);

// The text without blanks at its end.
[[nodiscard]] std::string without_trailing_blanks(std::string text);

// The text in lines of at most so many columns, broken between words; lines but the first begin
// with `indent` blanks. A word that is longer than a line has one for itself.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

// As printf.
template <class... Value>
[[nodiscard]] std::string formatted(const char* pattern, Value... value) {
  const int length = std::snprintf(nullptr, 0, pattern, value...);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern, value...);
  text.pop_back();
  return text;
}

}  // namespace weft::cli
