// Programs of tasks under the deterministic scheduler, asked to stop at each of their points in
// turn. Whatever the order, afterwards every frame is gone, every permit is back, and what was sent
// was received once or is still there.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/await_future.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include <support/scale.hpp>

namespace {

using weft::task;

// What one run shares and counts.
struct world {
  explicit world(std::uint64_t seed)
      : random(seed),
        permits(1 + random() % 2),
        values(random() % 3),
        pool({.deterministic_seed = seed}) {}

  std::uint64_t draw(std::uint64_t below) { return random() % below; }

  // Before every suspension.
  void point() {
    if (++points == act_at) act();
  }
  void note_sent(int value) { sent |= std::uint64_t{1} << value; }
  void note_received(int value) {
    const std::uint64_t bit = std::uint64_t{1} << value;
    doubled = doubled || (received & bit) != 0;
    received |= bit;
  }

  std::mt19937_64 random;
  weft::async_semaphore permits;
  weft::channel<int> values;
  int points = 0;
  int act_at = 0;
  std::function<void()> act;
  int next_value = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool doubled = false;
  std::shared_ptr<int> frames = std::make_shared<int>(0);  // every frame holds a copy
  weft::pool pool;
};

using frame_mark = std::shared_ptr<int>;

task<> yields(world& w, int times, frame_mark /*alive*/) {
  for (int i = 0; i < times; ++i) {
    w.point();
    co_await weft::yield();
  }
}

task<> holds_a_permit(world& w, int yield_count, frame_mark alive) {
  w.point();
  const auto permit = co_await w.permits.acquire();
  co_await yields(w, yield_count, alive);
}

task<> sends(world& w, int count, frame_mark /*alive*/) {
  for (int i = 0; i < count && w.next_value < 64; ++i) {
    const int value = w.next_value++;
    w.point();
    if (!co_await w.values.send(value)) co_return;
    w.note_sent(value);
  }
}

task<> receives(world& w, frame_mark /*alive*/) {
  for (;;) {
    w.point();
    const auto value = co_await w.values.receive();
    if (!value) co_return;
    w.note_received(*value);
  }
}

task<> awaits_a_job(world& w, frame_mark /*alive*/) {
  w.point();
  co_await w.pool.submit([] {});
}

// Something that ends by itself whatever the others do; the receivers see to it that sends do.
task<> acts(world& w, int depth, frame_mark alive) {
  switch (w.draw(depth > 0 ? 7 : 4)) {
    case 0:
      return yields(w, 1 + static_cast<int>(w.draw(2)), alive);
    case 1:
      return holds_a_permit(w, static_cast<int>(w.draw(3)), alive);
    case 2:
      return sends(w, 1 + static_cast<int>(w.draw(2)), alive);
    case 3:
      return awaits_a_job(w, alive);
    case 4:
      return [](task<> a, task<> b, world& x, frame_mark) -> task<> {
        x.point();
        co_await weft::when_all(std::move(a), std::move(b));
      }(acts(w, depth - 1, alive), acts(w, depth - 1, alive), w, alive);
    case 5:
      return [](task<> a, task<> b, world& x, frame_mark) -> task<> {
        x.point();
        co_await weft::when_any(std::move(a), std::move(b));
      }(acts(w, depth - 1, alive), receives(w, alive), w, alive);
    default:
      return [](task<> a, task<> b, world& x, frame_mark) -> task<> {
        x.point();
        std::vector<task<>> both;
        both.push_back(std::move(a));
        both.push_back(std::move(b));
        co_await weft::when_any(std::move(both));
      }(acts(w, depth - 1, alive), acts(w, depth - 1, alive), w, alive);
  }
}

task<> acts_and_closes(world& w, frame_mark alive) {
  std::vector<task<>> all;
  for (std::uint64_t i = 1 + w.draw(3); i > 0; --i) all.push_back(acts(w, 2, alive));
  w.point();
  co_await weft::when_all(std::move(all));
  w.values.close();
}

task<int> program(world& w, frame_mark alive) {
  w.point();
  co_await weft::when_all(acts_and_closes(w, alive), receives(w, alive), receives(w, alive));
  co_return 1;
}

// What is wrong afterwards; empty: nothing.
std::string complaint(world& w) {
  while (const auto value = w.values.try_receive()) w.note_received(*value);
  if (w.frames.use_count() != 1) {
    return std::to_string(w.frames.use_count() - 1) + " frames are left";
  }
  if (w.permits.limits().in_use() != 0) return "a permit is lost";
  if (w.permits.limits().waiting() != 0) return "somebody waits for a permit";
  if (w.doubled) return "a value came twice";
  if (w.sent != w.received) return "a value was lost, or came although it was not sent";
  return {};
}

// Runs the program of a seed, and does something at one of its points. How many there were.
enum class outcome : std::uint8_t { value, cancelled };
struct run_result {
  outcome how;
  int points;
  std::string complaint;
};

template <class Body>
run_result observe(world& w, Body body) {
  run_result r{};
  try {
    body();
    r.how = outcome::value;
  } catch (const weft::cancelled&) {
    r.how = outcome::cancelled;
  }
  r.points = w.points;
  r.complaint = complaint(w);
  return r;
}

run_result stop_by_token(std::uint64_t seed, int at) {
  world w(seed);
  std::stop_source stop;
  w.act_at = at;
  w.act = [&] { stop.request_stop(); };
  return observe(w, [&] { weft::sync_wait(w.pool, program(w, w.frames), stop.get_token()); });
}

run_result stop_by_future(std::uint64_t seed, int at) {
  world w(seed);
  w.act_at = at;
  auto f = weft::spawn(w.pool, program(w, w.frames));
  w.act = [&] { f.request_stop(); };
  return observe(w, [&] { f.get(); });
}

// The pool ends under the program after some steps. What still waits then is asked to stop, and
// goes on in the thread that asks.
run_result end_the_pool(std::uint64_t seed, int after, weft::shutdown_mode mode) {
  world w(seed);
  auto f = weft::spawn(w.pool, program(w, w.frames));
  auto passes_time = [](int steps) -> task<> {
    for (int i = 0; i < steps; ++i) co_await weft::yield();
  };
  weft::sync_wait(w.pool, passes_time(after));
  w.pool.shutdown(mode);
  f.request_stop();
  EXPECT_TRUE(f.ready()) << "seed " << seed << ", after " << after;
  return observe(w, [&] { f.get(); });
}

const int seeds = weft::test::rounds(20'000);

TEST(Exploration, ProgramsEndWithAValueWhenNobodyStopsThem) {
  for (int seed = 0; seed < seeds; ++seed) {
    const auto r = stop_by_token(static_cast<std::uint64_t>(seed), 0);
    ASSERT_EQ(r.how, outcome::value) << "seed " << seed;
    ASSERT_EQ(r.complaint, "") << "seed " << seed;
    ASSERT_GT(r.points, 3) << "seed " << seed;
  }
}

template <class Run>
void stop_everywhere(Run run) {
  long runs = 0;
  long cancelled = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const int points = run(s, 0).points;
    for (int at = 1; at <= points; ++at) {
      const auto r = run(s, at);
      ASSERT_EQ(r.complaint, "") << "seed " << seed << ", stopped at point " << at;
      ++runs;
      cancelled += r.how == outcome::cancelled ? 1 : 0;
    }
  }
  // Most stops are noticed; only those near the end come too late.
  EXPECT_GT(cancelled, runs / 2);
}

TEST(Exploration, StoppedByATokenAtAnyPointLeavesNothingBehind) { stop_everywhere(stop_by_token); }

TEST(Exploration, StoppedByItsFutureAtAnyPointLeavesNothingBehind) {
  stop_everywhere(stop_by_future);
}

TEST(Exploration, InAPoolThatEndsLeavesNothingBehind) {
  for (int seed = 0; seed < seeds; ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const auto mode = seed % 2 == 0 ? weft::shutdown_mode::cancel : weft::shutdown_mode::drain;
    for (const int after : {0, 1, 2, 3, 5, 8, 13}) {
      ASSERT_EQ(end_the_pool(s, after, mode).complaint, "")
          << "seed " << seed << ", after " << after;
    }
  }
}

}  // namespace
