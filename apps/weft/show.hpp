#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::cli {

// "1 rule", "2 rules".
[[nodiscard]] std::string counted(std::size_t number, std::string_view thing);

// Columns that a text takes, if each character takes one.
[[nodiscard]] std::size_t width_of(std::string_view text);

// The text with blanks after it, or cut off, so that it takes `width` columns.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

// Every line with something before it, and a line end after the last.
[[nodiscard]] std::string indented(std::string_view text, std::string_view before);

}  // namespace weft::cli
