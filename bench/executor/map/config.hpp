#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../support/measure.hpp"
#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"

// A loop over items that cost so much each, whose results are added up in order. Everybody reads at
// most 16 items a thread ahead of the result that is next, so everybody works in the same space.
namespace executor_map {

inline constexpr std::size_t look_ahead_per_thread = 16;

struct instance {
  std::string_view name;
  double item_us;
  std::size_t items;
};
inline constexpr std::array instances{
    instance{"1us,10^2", 1, 100},       instance{"1us,10^4", 1, 10'000},
    instance{"1us,10^6", 1, 1'000'000}, instance{"10us,10^2", 10, 100},
    instance{"10us,10^5", 10, 100'000}, instance{"1ms,10^2", 1000, 100},
    instance{"1ms,10^3", 1000, 1'000}};

// The function that is mapped.
struct body {
  std::uint64_t rounds;
  std::uint64_t operator()(std::size_t index) const { return bench::spin(rounds, index + 1); }
};

// Results, in order.
class checksum {
 public:
  void add(std::uint64_t result) { value_ = value_ * 31 + result; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

// `solve(items, body)` gives the checksum of the results.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const instance chosen = bench::chosen_instance(with, instances);
  const std::size_t items = with.quick && chosen.items >= 1000 ? chosen.items / 10 : chosen.items;
  const body f{bench::rounds_for_us(with, chosen.item_us)};
  checksum expected;
  const std::size_t checked = items < 1000 ? items : 1000;
  for (std::size_t i = 0; i < checked; ++i) expected.add(f(i));
  if (solve(checked, f) != expected.value()) bench::fail("executor_map: wrong results");
  const auto solve_all = [&] {
    auto sum = solve(items, f);
    bench::opaque(sum);
  };
  bench::measure_time(with, [&] { solve(20, f); }, solve_all);
}

}  // namespace executor_map
