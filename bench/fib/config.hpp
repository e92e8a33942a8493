#pragma once

#include "../support/measure.hpp"
#include "../support/spin.hpp"

// fib(n) by two recursive calls and no cutoff: every call with n >= 2 forks once. Nothing but the
// price of a fork.
namespace fib {

struct instance {
  int n;
  long value;
};
inline constexpr instance full{32, 2178309};
inline constexpr instance quick{30, 832040};
inline constexpr instance warm{20, 6765};

// Calls with n >= 2, that is forks.
constexpr double joins(instance of) {
  long a = 0;
  long b = 1;
  for (int i = 0; i < of.n; ++i) {
    const long next = a + b;
    a = b;
    b = next;
  }
  return static_cast<double>(b - 1);
}
static_assert(joins(full) == 3524577);

// `solve(n)` returns fib(n).
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const auto run = [&](instance problem) {
    bench::opaque(problem.n);
    if (solve(problem.n) != problem.value) bench::fail("fib: wrong result");
  };
  const auto problem = with.quick ? quick : full;
  const double ms = bench::measure_time(with, [&] { run(warm); }, [&] { run(problem); });
  bench::emit("join", "ns", ms * 1e6 / joins(problem));
}

}  // namespace fib
