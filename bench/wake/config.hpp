#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "../support/clock.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"

// A pool that has been idle for 2 ms gets one task from outside: how long until it starts? The
// submitter goes back to sleep, so that the woken worker never has to share its core with it.
namespace wake {

// `runtime.spawn(task)` submits a detached task.
template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  const int samples = with.quick ? 150 : 300;
  constexpr int warm_up = 10;
  std::vector<double> waits_us;
  for (int i = 0; i < warm_up + samples; ++i) {
    std::atomic<std::int64_t> started = 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto submitted = bench::now_ns();
    runtime.spawn([&started] { started.store(bench::now_ns()); });
    do std::this_thread::sleep_for(std::chrono::microseconds(300));
    while (started.load() == 0);
    if (i >= warm_up) waits_us.push_back(static_cast<double>(started.load() - submitted) / 1e3);
  }
  bench::emit("p50", "us", bench::quantile(waits_us, 0.50));
  bench::emit("p99", "us", bench::quantile(waits_us, 0.99));
}

}  // namespace wake
