#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"

// y[i] = 2 * x[i] + shift over floats: bound by memory when it is long, by the price of a parallel
// loop when it is short.
namespace loop {

struct instance {
  std::string_view name;
  std::size_t size;
  bench::time_unit unit;
};
inline constexpr std::array instances{
    instance{"10^8", 100'000'000, bench::milliseconds},
    instance{"10^5", 100'000, bench::microseconds},
    instance{"10^3", 1'000, bench::microseconds},
    instance{"100", 100, bench::nanoseconds},
    instance{"10", 10, bench::nanoseconds},
};

// Loops so short that it also matters whether they are called from inside a pool or outside.
inline bool is_short(const bench::options& with) {
  return chosen_instance(with, instances).size <= 1'000;
}

inline float value_of(float x, int shift) { return 2 * x + static_cast<float>(shift); }

// The body. `shift` is no float: a store to `y` then cannot change it, wherever a library keeps the
// body, and every library's loop can be vectorised.
struct body {
  const float* x;
  float* y;
  int shift;

  void operator()(std::size_t i) const { y[i] = value(i); }
  float value(std::size_t i) const { return value_of(x[i], shift); }
};

// `solve(size, body)` calls body(i) for every i below `size`.
template <class Solve>
void measure(const bench::options& with, const char* metric, Solve&& solve) {
  const auto problem = chosen_instance(with, instances);
  const std::size_t size = bench::scaled(with, problem.size);
  const bench::number_pair<float> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers.in()[i] = static_cast<float>(i % 1024);

  body run{numbers.in(), numbers.out(), 0};
  auto samples_ns = bench::time_calls(with, [&] {
    run.shift = (run.shift + 1) % 1024;  // So that results of an earlier call are wrong ones.
    bench::opaque(run.x);
    solve(size, run);
  });
  for (std::size_t i = 0; i < size; ++i) {
    if (run.y[i] != run.value(i)) bench::fail("loop: wrong result");
  }
  bench::emit_times(metric, problem.unit, std::move(samples_ns));
}

}  // namespace loop
