#pragma once

#include <cstddef>

#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"
#include "../loop/config.hpp"

// A parallel loop over 1000 rows, quick: 100, each of which is a parallel loop over 1000 cheap
// elements, those of the work `loop`.
namespace nested {

inline constexpr std::size_t columns = 1'000;

// `solve(rows, body)` calls body(i) for every i below rows * columns, row by row.
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const std::size_t rows = with.quick ? 100 : 1'000;
  const std::size_t size = rows * columns;
  const bench::number_pair<float> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers.in()[i] = static_cast<float>(i % 1024);

  loop::body run{numbers.in(), numbers.out(), 0};
  auto samples_ns = bench::time_calls(with, [&] {
    run.shift = (run.shift + 1) % 1024;
    bench::opaque(run.x);
    solve(rows, run);
  });
  for (std::size_t i = 0; i < size; ++i) {
    if (run.y[i] != run.value(i)) bench::fail("nested: wrong result");
  }
  bench::emit_times("time", bench::milliseconds, std::move(samples_ns));
}

}  // namespace nested
