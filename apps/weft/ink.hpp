#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "terminal.hpp"

namespace weft::cli {

enum class ink : std::uint8_t { none, red, green, yellow, blue, magenta, cyan, grey };

// The text in a colour, if the terminal has any.
[[nodiscard]] std::string painted(std::string_view text, ink colour, const terminal& look);

}  // namespace weft::cli
