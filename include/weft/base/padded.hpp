#pragma once

#include <cstddef>

namespace weft::base {

/// The unit in which cores exchange memory. A constant and not
/// std::hardware_destructive_interference_size, because that one changes with compiler flags and
/// would change the layout of our types with them. 64 bytes is right for x86-64 and most of ARM.
inline constexpr std::size_t cache_line_size = 64;

/// A value alone on its cache line, so that writing it does not slow down readers of a neighbour.
template <class T>
struct alignas(cache_line_size) padded {
  T value{};
};

}  // namespace weft::base
