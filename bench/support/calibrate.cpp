// Prints how many rounds of `bench::spin` take one microsecond on this machine, as the best of many
// short runs.

#include <algorithm>
#include <cstdio>

#include "clock.hpp"
#include "spin.hpp"

int main() {
  constexpr std::uint64_t rounds = 200'000;
  std::int64_t best_ns = INT64_MAX;
  for (int i = 0; i < 100; ++i) {
    const auto begin = bench::now_ns();
    bench::spin_rounds(rounds);
    best_ns = std::min(best_ns, bench::now_ns() - begin);
  }
  std::printf("%.3f\n", static_cast<double>(rounds) * 1e3 / static_cast<double>(best_ns));
}
