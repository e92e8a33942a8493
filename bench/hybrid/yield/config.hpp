#pragma once

#include <cstddef>

#include "../../support/laps.hpp"
#include "../../support/rounds.hpp"

// A coroutine goes to the end of the queue of its worker, on which there is nobody else, and on
// from there. `time` is per yield.
namespace hybrid_yield {

inline constexpr std::size_t yields = 10'000;

// `yield()` gives what a coroutine awaits to let others go first.
template <class Task, class Yield>
Task yield_often(bench::laps& laps, Yield yield) {
  while (laps.next()) {
    for (std::size_t i = 0; i < yields; ++i) co_await yield();
  }
}

inline void report(const bench::laps& laps) {
  bench::emit_times("time", bench::nanoseconds, laps.samples_ns(yields));
}

}  // namespace hybrid_yield
