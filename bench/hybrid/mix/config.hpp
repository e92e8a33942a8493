#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "../../support/countdown.hpp"
#include "../../support/echo_process.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/sockets.hpp"
#include "../../support/spin.hpp"
#include "../../support/statistics.hpp"

// What a hybrid scheduler is for: 32 connections send a request every 5 ms each to a server in
// another process, while 64 tasks of 1 ms of computing are always in flight, more than enough for
// every core.
namespace hybrid_mix {

using clock = std::chrono::steady_clock;

inline constexpr std::size_t connections = 32;
inline constexpr std::chrono::microseconds period{5'000};
inline constexpr std::size_t message_bytes = 64;
inline constexpr long cpu_tasks = 64;
inline constexpr double cpu_task_us = 1'000;

// When requests are sent, and from when on they count.
struct schedule {
  clock::time_point begin;
  clock::time_point measured_from;
  clock::time_point end;
};

// What one connection saw. Only its own coroutine writes it.
struct journal {
  std::vector<double> round_trips_us;
  // From the moment a request was due: whoever sends late cannot hide it.
  std::vector<double> since_due_us;
};

// The client of one connection. `stream` has read_some, write and sleep_until, to be awaited.
template <class Task, class Stream>
Task send_requests(Stream stream, schedule when, std::size_t index, journal& into) {
  const auto microseconds = [](clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  };
  std::array<char, message_bytes> message{};
  auto due = when.begin + index * period / connections;
  for (; due < when.end; due += period) {
    co_await stream.sleep_until(due);
    const auto sent = clock::now();
    if (sent >= when.end) break;
    co_await stream.write(message);
    for (std::size_t read = 0; read < message_bytes;) {
      const std::size_t size = co_await stream.read_some(std::span(message).subspan(read));
      if (size == 0) bench::fail("hybrid_mix: the echo server went away");
      read += size;
    }
    if (sent < when.measured_from) continue;
    const auto received = clock::now();
    into.round_trips_us.push_back(microseconds(received - sent));
    into.since_due_us.push_back(microseconds(received - due));
  }
}

// Tasks of which each, at its end, spawns the next.
class cpu_load {
 public:
  explicit cpu_load(std::uint64_t rounds) : rounds_(rounds), ended_(cpu_tasks) {}

  template <class Spawn>
  void start(Spawn spawn) {
    for (long i = 0; i < cpu_tasks; ++i) spawn_one(spawn);
  }

  void stop() {
    stopping_ = true;
    ended_.wait();
  }

  [[nodiscard]] long finished() const { return finished_; }

 private:
  template <class Spawn>
  void spawn_one(Spawn spawn) {
    spawn([this, spawn] {
      bench::spin_rounds(rounds_);
      ++finished_;
      if (stopping_)
        ended_.arrive();
      else
        spawn_one(spawn);
    });
  }

  std::uint64_t rounds_;
  std::atomic<long> finished_ = 0;      // Written by tasks, read by the main thread: a count.
  std::atomic<bool> stopping_ = false;  // Written by the main thread, read by tasks: a request.
  bench::countdown ended_;
};

inline void report(const std::vector<journal>& journals, std::size_t offered) {
  std::vector<double> round_trips_us;
  std::vector<double> since_due_us;
  for (const journal& one : journals) {
    round_trips_us.insert(round_trips_us.end(), one.round_trips_us.begin(),
                          one.round_trips_us.end());
    since_due_us.insert(since_due_us.end(), one.since_due_us.begin(), one.since_due_us.end());
  }
  if (!round_trips_us.empty()) {
    bench::emit("p50", "us", bench::quantile(round_trips_us, 0.50));
    bench::emit("p99", "us", bench::quantile(round_trips_us, 0.99));
    bench::emit("due_p99", "us", bench::quantile(since_due_us, 0.99));
  }
  bench::emit("served", "%",
              100 * static_cast<double>(since_due_us.size()) / static_cast<double>(offered));
}

// `runtime.start_client(socket, when, index, journal)` runs send_requests, `runtime.spawn_cpu(f)`
// a task of computing, and `runtime.finish_io()` waits for the clients, which end by themselves.
template <class Runtime>
void measure(const bench::options& with, const bench::echo_process& server, Runtime& runtime) {
  const auto length = std::chrono::milliseconds(with.quick ? 1'000 : 4'000);
  schedule when;
  when.begin = clock::now() + std::chrono::milliseconds(50);
  when.measured_from = when.begin + std::chrono::milliseconds(200);
  when.end = when.measured_from + length;
  std::vector<journal> journals(connections);
  for (std::size_t i = 0; i < connections; ++i)
    runtime.start_client(bench::connect_to_loopback(server.port()), when, i, journals[i]);
  cpu_load load(bench::rounds_for_us(with, cpu_task_us));
  load.start([&runtime](auto task) { runtime.spawn_cpu(std::move(task)); });
  std::this_thread::sleep_until(when.measured_from);
  const auto measured_from = clock::now();
  const long finished_before = load.finished();
  std::this_thread::sleep_until(when.end);
  const long finished = load.finished() - finished_before;
  const double seconds = std::chrono::duration<double>(clock::now() - measured_from).count();
  load.stop();
  runtime.finish_io();
  report(journals, connections * static_cast<std::size_t>(length / period));
  bench::emit("rate", "tasks/s", static_cast<double>(finished) / seconds);
}

}  // namespace hybrid_mix
