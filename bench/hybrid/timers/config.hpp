#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"

// 100,000 coroutines, each of which sleeps for 10 ms. `time` is from before the first is started
// until the last has ended.
namespace hybrid_timers {

inline constexpr std::size_t coroutines = 100'000;
inline constexpr std::chrono::milliseconds length{10};

// `sleep(length)` is awaited. How late it is goes to `late_ms`.
template <class Task, class Sleep>
Task sleep_once(Sleep sleep, double& late_ms) {
  const auto begin = bench::now_ns();
  co_await sleep(length);
  late_ms =
      static_cast<double>(bench::now_ns() - begin) / 1e6 - static_cast<double>(length.count());
}

// `run(late_ms)` starts a coroutine for each element and waits for all.
template <class Run>
void measure(Run&& run) {
  std::vector<double> late_ms(coroutines);
  const auto cpu_begin = bench::process_cpu_ns();
  const auto begin = bench::now_ns();
  run(late_ms);
  const auto wall_ns = static_cast<double>(bench::now_ns() - begin);
  const auto cpu_ns = static_cast<double>(bench::process_cpu_ns() - cpu_begin);
  bench::emit("time", "ms", wall_ns / 1e6);
  bench::emit("cpu", "ms", cpu_ns / 1e6);
  bench::emit("late_p50", "ms", bench::quantile(late_ms, 0.50));
  bench::emit("late_p99", "ms", bench::quantile(late_ms, 0.99));
}

}  // namespace hybrid_timers
