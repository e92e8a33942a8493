#pragma once

#include <string>
#include <string_view>

namespace weft::cli {

// Every line with something before it, and a line end after the last.
[[nodiscard]] std::string indented(std::string_view text, std::string_view before);

}  // namespace weft::cli
