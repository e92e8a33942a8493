#pragma once

#include <cstddef>

#include "../support/countdown.hpp"
#include "../support/latency.hpp"
#include "../support/options.hpp"

// A million detached tasks spawned by a thread that is no worker; each task counts down, the last
// one signals. `rate` covers spawning and completing them all, without timers; a second round times
// every single spawn.
namespace spawn_outside {

template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  const std::size_t tasks = with.quick ? 250'000 : 1'000'000;
  const auto round = [&](std::size_t count) {
    bench::countdown left(static_cast<long>(count));
    const auto begin = bench::now_ns();
    for (std::size_t i = 0; i < count; ++i) runtime.spawn([&left] { left.arrive(); });
    left.wait();
    return static_cast<double>(bench::now_ns() - begin);
  };
  round(tasks / 10);
  bench::emit("rate", "M/s", static_cast<double>(tasks) * 1e3 / round(tasks));

  bench::call_timer timer(tasks);
  bench::countdown left(static_cast<long>(tasks));
  timer.time_each([&] { runtime.spawn([&left] { left.arrive(); }); });
  left.wait();
  timer.emit_quantiles();
}

}  // namespace spawn_outside
