#pragma once

#include <cstddef>
#include <cstdint>

#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"

// Prefix sums of 32 bit integers, into another array.
namespace scan {

// `solve(in, out, size)` makes out[i] the sum of in[0] to in[i].
template <class Solve>
void measure(const bench::options& with, Solve&& solve) {
  const std::size_t size = bench::scaled(with, 100'000'000);
  const bench::number_pair<std::int32_t> numbers(size);
  std::int32_t* const in = numbers.in();
  std::int32_t* const out = numbers.out();
  for (std::size_t i = 0; i < size; ++i) {
    in[i] = static_cast<std::int32_t>((i * 2'654'435'761U) >> 8 & 15);  // No sum overflows.
  }
  auto samples_ns = bench::time_calls(with, [&] {
    const std::int32_t* from = in;
    bench::opaque(from);
    ++in[0];  // So that results of an earlier call are wrong ones.
    solve(from, out, size);
  });
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += in[i];
    if (out[i] != sum) bench::fail("scan: wrong result");
  }
  bench::emit_times("time", bench::milliseconds, std::move(samples_ns));
}

}  // namespace scan
