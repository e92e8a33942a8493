#pragma once

#include <cstddef>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/spin.hpp"

// 1,000 instances of 1 ms of computing. `utilisation` is the CPU time of the process over threads x
// wall time; a library that searches for work in a loop is busy, too, so see `time` beside it.
namespace hybrid_busy {

inline constexpr double instance_us = 1'000;

// `run(count, instance)` calls it so many times, in parallel, and returns when all have ended.
template <class Run>
void measure(const bench::options& with, Run&& run) {
  const auto rounds = bench::rounds_for_us(with, instance_us);
  const auto instance = [rounds] { bench::spin_rounds(rounds); };
  run(20, instance);
  const auto cpu_begin = bench::process_cpu_ns();
  const auto begin = bench::now_ns();
  run(with.quick ? 200 : 1'000, instance);
  const auto wall_ns = static_cast<double>(bench::now_ns() - begin);
  const auto cpu_ns = static_cast<double>(bench::process_cpu_ns() - cpu_begin);
  bench::emit("utilisation", "%", 100 * cpu_ns / (with.threads * wall_ns));
  bench::emit("time", "ms", wall_ns / 1e6);
}

}  // namespace hybrid_busy
