#pragma once

#include <cstddef>

#include <weft/core/pool.hpp>

namespace weft::detail {

// Puts numbers where defaults were asked for. Throws std::invalid_argument for what cannot be.
[[nodiscard]] pool_options resolve_options(pool_options o);

// Throws std::invalid_argument for a value outside, with `advice` at the end of its message.
void require_range(const char* what, std::size_t value, std::size_t low, std::size_t high,
                   const char* advice);

}  // namespace weft::detail
