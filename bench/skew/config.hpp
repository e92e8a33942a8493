#pragma once

#include <cstdint>

#include "../support/measure.hpp"
#include "../support/spin.hpp"

// A loop whose items cost in proportion to their index: the second half is three times the first.
// Every library splits the range in halves by fork-join down to single items.
namespace skew {

struct instance {
  int items;
  std::uint64_t checksum;
};
inline constexpr instance full{20'000, 0x5b14d06a2d1066a2};
inline constexpr instance quick{10'000, 0x1a918eeda1c07125};
inline constexpr instance warm{1'000, 0x886160722a203456};

inline std::uint64_t item(int index) noexcept {
  const auto i = static_cast<std::uint64_t>(index);
  return bench::spin(i / 4, i + 1);
}

// `solve(first, last)` returns the sum of the items first .. last - 1.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto run = [&](instance problem) {
    bench::opaque(problem.items);
    if (solve(0, problem.items) != problem.checksum) bench::fail("skew: wrong checksum");
  };
  bench::measure_time(with, [&] { run(warm); }, [&] { run(with.quick ? quick : full); });
}

}  // namespace skew
