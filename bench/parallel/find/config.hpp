#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"

// The first negative one of 10^8 integers: a tenth of the way in, or nowhere.
namespace find {

struct instance {
  std::string_view name;
  bool has_match;
};
inline constexpr std::array instances{instance{"hit10", true}, instance{"none", false}};

inline constexpr auto is_match = [](std::int32_t value) { return value < 0; };

// `solve(first, last)` returns the first element for which is_match holds, or `last`.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto problem = chosen_instance(with, instances);
  const std::size_t size = bench::scaled(with, 100'000'000);
  const auto values = bench::make_numbers<std::int32_t>(size);
  std::fill_n(values.get(), size, 1);
  std::size_t expected = size;
  if (problem.has_match) {
    expected = size / 10;
    values[expected] = -1;
  }
  auto samples_ns = bench::time_calls(with, [&] {
    const std::int32_t* first = values.get();
    bench::opaque(first);
    if (solve(first, first + size) != first + expected) bench::fail("find: wrong place");
  });
  bench::emit_times("time", bench::milliseconds, std::move(samples_ns));
}

}  // namespace find
