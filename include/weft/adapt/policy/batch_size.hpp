#pragma once

#include <cstddef>

#include <weft/adapt/policy/sizing.hpp>

namespace weft::adapt {

// Workers for a batch of rules by its size alone: 1 for one rule, 2 for up to three, 4 for up to
// ten, 8 for up to fifty, all of them beyond; never more than `workers`, and at least 1.
[[nodiscard]] sizing batch_size(std::size_t rules, unsigned workers) noexcept;

}  // namespace weft::adapt
