#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/pool.hpp>

#include <support/scale.hpp>

namespace weft::test {

// Runs `f` wherever an algorithm can be called: outside any pool, in pools of one, two and four
// workers, and in deterministic pools, which split at every chance and run the pieces in an order
// drawn from the seed.
template <class F>
void everywhere(F f) {
  {
    SCOPED_TRACE("outside any pool");
    f();
  }
  for (const unsigned workers : {1U, 2U, 4U}) {
    SCOPED_TRACE("in a pool of " + std::to_string(workers));
    pool p({.workers = workers});
    p.run(f);
  }
  constexpr std::uint64_t seeds = under_sanitizer ? 2 : 10;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("in a deterministic pool, seed " + std::to_string(seed));
    pool p({.deterministic_seed = seed});
    p.run(f);
  }
}

// An iteration that costs something: keeps the CPU busy that long.
inline void work_for(std::chrono::steady_clock::duration time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Sizes around which loops change what they do.
inline const std::vector<std::size_t> sizes{0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 66, 1000, 4161};

}  // namespace weft::test
