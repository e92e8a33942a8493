#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace weft::test {

// GCC says by a macro that a sanitizer is on, Clang by a feature.
#if defined(__has_feature)
#define WEFT_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define WEFT_TEST_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || WEFT_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool under_tsan = true;
#else
inline constexpr bool under_tsan = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || WEFT_TEST_HAS_FEATURE(address_sanitizer)
inline constexpr bool under_asan = true;
#else
inline constexpr bool under_asan = false;
#endif
#undef WEFT_TEST_HAS_FEATURE
inline constexpr bool under_sanitizer = under_tsan || under_asan;

// Round counts are written for a plain build; sanitizers run a part of them.
constexpr int rounds(int plain) {
  const int scaled = under_tsan ? plain / 20 : under_asan ? plain / 10 : plain;
  return scaled > 0 ? scaled : 1;
}

// A new seed each run, printed so that a failure can be had again: WEFT_TEST_SEED=n repeats it.
inline std::uint64_t announced_seed() {
  const char* fixed = std::getenv("WEFT_TEST_SEED");
  const std::uint64_t seed = fixed != nullptr ? std::stoull(fixed) : std::random_device{}();
  std::cout << "seed " << seed << " (repeat with WEFT_TEST_SEED=" << seed << ")" << std::endl;
  return seed;
}

}  // namespace weft::test
