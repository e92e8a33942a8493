#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "../support/clock.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"
#include "../support/spin.hpp"

// 10,000 tasks of about 100 us of pure CPU work. `utilisation` is the sum of the durations, which
// each task measures itself, over threads x makespan: what is missing from 1 was spent on spawning,
// stealing and idling.
namespace tasks {

inline constexpr double task_us = 100;

inline std::size_t count(const bench::options& with) { return with.quick ? 2'000 : 10'000; }

inline void emit_utilisation(const bench::options& with,
                             const std::vector<std::int64_t>& durations_ns,
                             std::int64_t makespan_ns) {
  const auto busy_ns = std::accumulate(durations_ns.begin(), durations_ns.end(), std::int64_t{0});
  const auto capacity_ns = static_cast<double>(with.threads) * static_cast<double>(makespan_ns);
  bench::emit("utilisation", "ratio", static_cast<double>(busy_ns) / capacity_ns);
}

template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  const auto rounds = bench::rounds_for_us(with, task_us);
  const auto round = [&](std::size_t task_count) {
    std::vector<std::int64_t> durations_ns(task_count);
    const auto begin = bench::now_ns();
    runtime.scope([&](auto spawn) {
      for (auto& duration_ns : durations_ns) {
        spawn([&duration_ns, rounds] {
          const auto started = bench::now_ns();
          bench::spin_rounds(rounds);
          duration_ns = bench::now_ns() - started;
        });
      }
    });
    const auto makespan_ns = bench::now_ns() - begin;
    return std::pair(std::move(durations_ns), makespan_ns);
  };
  round(100);
  const auto [durations_ns, makespan_ns] = round(count(with));
  emit_utilisation(with, durations_ns, makespan_ns);
}

}  // namespace tasks
