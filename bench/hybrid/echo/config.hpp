#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/sockets.hpp"

// 1,000 connections, each 100 requests of 64 bytes, one after the other; both ends in one process.
// The connections are there before the clock starts.
namespace hybrid_echo {

inline constexpr std::size_t connections = 1'000;
inline constexpr std::size_t message_bytes = 64;

inline std::size_t requests(const bench::options& with) { return with.quick ? 30 : 100; }

// Where threads have loops of their own, connection `index` has its client on one and its server on
// another half of the time: as it happens to whoever accepts connections.
inline std::size_t client_thread(std::size_t index, int threads) {
  return index % static_cast<std::size_t>(threads);
}
inline std::size_t server_thread(std::size_t index, int threads) {
  return index / static_cast<std::size_t>(threads) % static_cast<std::size_t>(threads);
}

// Reads into more than a message, so that the end of what has come can be told from its size.
using message_buffer = std::array<char, 2 * message_bytes>;

// `stream.read_some(span)` gives a number of bytes, 0 at the end; `stream.write(span)` writes all.
// The stream closes its socket when it is destroyed.
template <class Task, class Stream>
Task serve(Stream stream) {
  message_buffer buffer;
  for (;;) {
    const std::size_t size = co_await stream.read_some(std::span(buffer));
    if (size == 0) break;
    co_await stream.write(std::span(buffer).first(size));
  }
}

template <class Task, class Stream>
Task request(Stream stream, std::span<double> round_trips_ms) {
  message_buffer buffer{};
  for (double& round_trip_ms : round_trips_ms) {
    const auto begin = bench::now_ns();
    co_await stream.write(std::span(buffer).first(message_bytes));
    for (std::size_t read = 0; read < message_bytes;) {
      const std::size_t size = co_await stream.read_some(std::span(buffer).subspan(read));
      if (size == 0) bench::fail("hybrid_echo: a connection was closed");
      read += size;
    }
    round_trip_ms = static_cast<double>(bench::now_ns() - begin) / 1e6;
  }
}

// `run(pairs, round_trips)` serves all and returns when they have ended; round_trips[i] is for the
// client of pairs[i].
template <class Run>
void measure(const bench::options& with, Run&& run) {
  const auto pairs = bench::connect_pairs(connections);
  std::vector<double> round_trips_ms(connections * requests(with));
  std::vector<std::span<double>> by_connection;
  for (std::size_t i = 0; i < connections; ++i)
    by_connection.push_back(std::span(round_trips_ms).subspan(i * requests(with), requests(with)));
  const auto cpu_begin = bench::process_cpu_ns();
  const auto begin = bench::now_ns();
  run(pairs, by_connection);
  const auto wall_ns = static_cast<double>(bench::now_ns() - begin);
  const auto cpu_ns = static_cast<double>(bench::process_cpu_ns() - cpu_begin);
  const auto operations = static_cast<double>(round_trips_ms.size());
  bench::emit("rate", "K/s", operations / wall_ns * 1e6);
  bench::emit("p50", "ms", bench::quantile(round_trips_ms, 0.50));
  bench::emit("p99", "ms", bench::quantile(round_trips_ms, 0.99));
  bench::emit("cpu", "us/op", cpu_ns / operations / 1e3);
}

}  // namespace hybrid_echo
