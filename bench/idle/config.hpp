#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "../support/clock.hpp"
#include "../support/options.hpp"
#include "../support/process.hpp"
#include "../support/rendezvous.hpp"
#include "../support/report.hpp"

// A pool whose threads have all run a task is left alone for 10 s (2 s quick), after 200 ms to
// settle down. What its threads do in that time, the sleeping main thread aside: CPU time and
// context switches.
namespace idle {

template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  bench::rendezvous everybody(with.threads);
  runtime.scope([&](auto spawn) {
    for (int i = 0; i < with.threads; ++i) spawn([&everybody] { everybody.arrive_and_wait(); });
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));

  const auto workers_cpu_ns = [] { return bench::process_cpu_ns() - bench::thread_cpu_ns(); };
  const auto switches_before = bench::worker_context_switches();
  const auto cpu_before = workers_cpu_ns();
  std::this_thread::sleep_for(std::chrono::seconds(with.quick ? 2 : 10));
  const auto cpu_ns = workers_cpu_ns() - cpu_before;
  const auto switches = bench::worker_context_switches() - switches_before;
  // The two clocks are not read at the same instant, so next to nothing may come out below zero.
  bench::emit("cpu", "ms", std::max(0.0, static_cast<double>(cpu_ns) / 1e6));
  bench::emit("switches", "count", static_cast<double>(switches));
}

}  // namespace idle
