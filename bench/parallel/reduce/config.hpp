#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"

// The sum of 32 bit integers in a 64 bit one.
namespace reduce {

struct instance {
  std::string_view name;
  std::size_t size;
  bench::time_unit unit;
};
inline constexpr std::array instances{
    instance{"10^8", 100'000'000, bench::milliseconds},
    instance{"10^5", 100'000, bench::microseconds},
};

// `solve(first, last)` returns the sum. The one of the largest instance does not fit 32 bits.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto problem = chosen_instance(with, instances);
  const std::size_t size = bench::scaled(with, problem.size);
  const auto values = bench::make_numbers<std::int32_t>(size);
  long expected = 0;
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = static_cast<std::int32_t>((i * 2'654'435'761U) >> 8 & 1023);
    expected += values[i];
  }
  auto samples_ns = bench::time_calls(with, [&] {
    const std::int32_t* first = values.get();
    bench::opaque(first);
    if (solve(first, first + size) != expected) bench::fail("reduce: wrong sum");
  });
  bench::emit_times("time", problem.unit, std::move(samples_ns));
}

}  // namespace reduce
