#pragma once

#include <cstdint>

#include "options.hpp"

namespace bench {

// Forgets what the compiler knows about a value, so that a pure call is neither hoisted nor
// dropped.
template <class T>
inline void opaque(T& value) noexcept {
  asm volatile("" : "+r"(value) : : "memory");
}

// Pure CPU work without memory traffic: a chain of xorshift steps, one latency after the other,
// which compilers neither vectorise nor shorten. The result depends on every round.
inline std::uint64_t spin(std::uint64_t rounds, std::uint64_t seed = 88172645463325252u) noexcept {
  std::uint64_t x = seed;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

inline std::uint64_t rounds_for_us(const options& with, double us) {
  return static_cast<std::uint64_t>(with.rounds_per_us * us);
}

inline void spin_rounds(std::uint64_t rounds) noexcept {
  auto result = spin(rounds);
  opaque(result);
}

}  // namespace bench
