#pragma once

#include <cstddef>
#include <optional>

#include "../../support/laps.hpp"
#include "../../support/rounds.hpp"

// Two coroutines of a pool of two workers send a number to and fro, through one channel of capacity
// one for each direction. `time` is per message: one coroutine suspends, the other goes on, on
// whichever worker the library chooses.
namespace hybrid_hop {

inline constexpr int messages = 10'000;
inline constexpr int last_message = -1;

// `channel.send(number)` and `channel.receive()` are awaited.
template <class Task, class Channel>
Task ping(bench::laps& laps, Channel& out, Channel& in) {
  while (laps.next()) {
    for (int i = 0; i < messages; i += 2) {
      co_await out.send(i);
      if (co_await in.receive() != i + 1) bench::fail("hybrid_hop: wrong message");
    }
  }
  co_await out.send(last_message);
}

template <class Task, class Channel>
Task pong(Channel& in, Channel& out) {
  for (;;) {
    // Some channels give a number, others none when they are closed.
    const std::optional<int> got = co_await in.receive();
    if (got == last_message) break;
    co_await out.send(*got + 1);
  }
}

inline void report(const bench::laps& laps) {
  bench::emit_times("time", bench::nanoseconds, laps.samples_ns(messages));
}

}  // namespace hybrid_hop
