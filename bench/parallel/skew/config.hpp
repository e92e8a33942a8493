#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "../../skew/config.hpp"
#include "../../support/rounds.hpp"

// The items of the work `skew` in the suite `core`, whose cost grows with their index, as a plain
// loop: how to split it is up to the library.
namespace skewed_loop {

struct body {
  std::uint64_t* results;
  std::uint64_t shift;

  void operator()(int i) const { results[i] = skew::item(i) + shift; }
};

// `solve(items, body)` calls body(i) for every i below `items`.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto problem = with.quick ? skew::quick : skew::full;
  const auto items = static_cast<std::size_t>(problem.items);
  std::vector<std::uint64_t> results(items);
  body run{results.data(), 0};
  auto samples_ns = bench::time_calls(with, [&] {
    ++run.shift;  // So that results of an earlier call are wrong ones.
    solve(problem.items, run);
  });
  const auto sum = std::accumulate(results.begin(), results.end(), std::uint64_t{0});
  if (sum != problem.checksum + run.shift * items) bench::fail("skew: wrong checksum");
  bench::emit_times("time", bench::milliseconds, std::move(samples_ns));
}

}  // namespace skewed_loop
