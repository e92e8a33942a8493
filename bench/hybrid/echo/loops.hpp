#pragma once

#include <thread>

#include "../../support/detached.hpp"
#include "config.hpp"

namespace hybrid_echo {

// The raw rows: a `Loop` in each thread, made there. `Loop::stream(socket)` gives a stream of that
// loop, which `Loop::run()` serves until all its streams are gone.
template <class Loop>
void measure_loops(const bench::options& with) {
  measure(with, [&](const std::vector<bench::connection>& pairs,
                    const std::vector<std::span<double>>& round_trips_ms) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < with.threads; ++thread) {
      threads.emplace_back([&, own = static_cast<std::size_t>(thread)] {
        Loop loop;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          if (server_thread(i, with.threads) == own)
            serve<bench::detached>(loop.stream(pairs[i].server));
          if (client_thread(i, with.threads) == own)
            request<bench::detached>(loop.stream(pairs[i].client), round_trips_ms[i]);
        }
        loop.run();
      });
    }
  });
}

}  // namespace hybrid_echo
