#pragma once

#include <cstddef>

#include "../support/latency.hpp"
#include "../support/options.hpp"

// A million empty tasks spawned one by one from inside the pool, into one group, by one worker.
// With one thread nobody steals; with more, the others steal all the while. `rate` covers spawning
// and completing them all, without timers; a second round times every single spawn.
namespace spawn_inside {

template <class Runtime>
void measure(const bench::options& with, Runtime& runtime) {
  const std::size_t tasks = with.quick ? 250'000 : 1'000'000;
  std::int64_t begin = 0;
  const auto round = [&](std::size_t count) {
    runtime.scope([&](auto spawn) {
      begin = bench::now_ns();
      for (std::size_t i = 0; i < count; ++i) spawn([] {});
    });
  };
  round(tasks / 10);
  round(tasks);
  const auto elapsed_ns = static_cast<double>(bench::now_ns() - begin);
  bench::emit("rate", "M/s", static_cast<double>(tasks) * 1e3 / elapsed_ns);

  bench::call_timer timer(tasks);
  runtime.scope([&](auto spawn) { timer.time_each([&] { spawn([] {}); }); });
  timer.emit_quantiles();
}

}  // namespace spawn_inside
