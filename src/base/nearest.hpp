#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace weft::base {

// The candidate that `word` was probably meant to be: at most a third of its letters away,
// counting a letter too many, too few, wrong, or swapped with its neighbour. Empty: none is close.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> candidates);

}  // namespace weft::base
