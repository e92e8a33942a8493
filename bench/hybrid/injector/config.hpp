#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "../../support/clock.hpp"
#include "../../support/countdown.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/spin.hpp"

// Every worker runs a task of 100 us that spawns itself again, so that no worker's own queue is
// ever empty. How long does a task from outside wait?
namespace hybrid_injector {

inline constexpr double task_us = 100;
// Who leaves a task waiting for as long as this is taken to leave it there for ever.
inline constexpr double starved_us = 250'000;
inline constexpr int starved_max = 4;

// Waits for `started`, asleep: the workers need the cores.
inline double wait_us(const std::atomic<std::int64_t>& started, std::int64_t submitted) {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    const auto now = started != 0 ? started.load() : bench::now_ns();
    const auto waited_us = static_cast<double>(now - submitted) / 1e3;
    if (started != 0 || waited_us > starved_us) return std::min(waited_us, starved_us);
  }
}

// `runtime.spawn(f)` submits from outside, `runtime.respawn(f)` is what a task calls to spawn.
template <class Runtime>
class respawning {
 public:
  respawning(const bench::options& with, Runtime& runtime)
      : runtime_(runtime), rounds_(bench::rounds_for_us(with, task_us)), ended_(with.threads) {
    for (int i = 0; i < with.threads; ++i) runtime_.spawn([this] { run(); });
  }

  void stop() {
    stopping_ = true;
    ended_.wait();
  }

 private:
  void run() {
    bench::spin_rounds(rounds_);
    if (stopping_)
      ended_.arrive();
    else
      runtime_.respawn([this] { run(); });
  }

  Runtime& runtime_;
  std::uint64_t rounds_;
  std::atomic<bool> stopping_ = false;  // Written by the main thread, read by tasks: a request.
  bench::countdown ended_;
};

template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  const int probes = with.quick ? 300 : 1'000;
  constexpr int warm_up = 10;
  respawning<Runtime> load(with, runtime);
  std::vector<double> waits_us;
  int starved = 0;
  for (int i = 0; i < warm_up + probes && starved < starved_max; ++i) {
    // A starved probe may start after this function has given it up.
    const auto started = std::make_shared<std::atomic<std::int64_t>>(0);
    const auto submitted = bench::now_ns();
    runtime.spawn([started] { *started = bench::now_ns(); });
    const double waited_us = wait_us(*started, submitted);
    if (i >= warm_up || waited_us == starved_us) waits_us.push_back(waited_us);
    if (waited_us == starved_us) ++starved;
  }
  load.stop();
  const double p99_us = bench::quantile(waits_us, 0.99);
  bench::emit("p50", "us", bench::quantile(waits_us, 0.50));
  bench::emit("p99", "us", p99_us);
  bench::emit("beyond_task", "us", std::max(0.0, p99_us - task_us));
}

}  // namespace hybrid_injector
