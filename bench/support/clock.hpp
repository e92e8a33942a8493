#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "statistics.hpp"

namespace bench {

inline std::int64_t read_clock_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t now_ns() noexcept { return read_clock_ns(CLOCK_MONOTONIC); }
inline std::int64_t thread_cpu_ns() noexcept { return read_clock_ns(CLOCK_THREAD_CPUTIME_ID); }
inline std::int64_t process_cpu_ns() noexcept { return read_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// The cheapest timer for events of some nanoseconds. rdtscp waits for earlier instructions, rdtsc
// does not.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  unsigned processor = 0;
  return __rdtscp(&processor);
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

// Busy-waits 20 ms to learn how long a tick is.
inline double measure_ns_per_tick() {
  const auto begin_ns = now_ns();
  const auto begin = ticks();
  while (now_ns() - begin_ns < 20'000'000) {
  }
  return static_cast<double>(now_ns() - begin_ns) / static_cast<double>(ticks() - begin);
}

// What two readings with nothing between them cost: reported beside every latency, never
// subtracted.
inline double measure_timer_cost_ns(double ns_per_tick) {
  std::vector<double> costs(1001);
  for (auto& cost : costs) {
    const auto begin = ticks();
    cost = static_cast<double>(ticks() - begin) * ns_per_tick;
  }
  return median(std::move(costs));
}

}  // namespace bench
