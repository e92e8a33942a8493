#pragma once

#include <cstddef>

#include "../../support/laps.hpp"
#include "../../support/rounds.hpp"

// 1,000 instances that do nothing are started and waited for by one that runs in the pool itself;
// an instance is a coroutine where the library has them. `time` is per instance.
namespace hybrid_spawn_join {

inline constexpr std::size_t instances = 1'000;

inline void report(const bench::laps& laps) {
  bench::emit_times("time", bench::nanoseconds, laps.samples_ns(instances));
}

}  // namespace hybrid_spawn_join
