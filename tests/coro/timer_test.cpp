#include <weft/coro/timer_queue.hpp>

#include <chrono>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using weft::sleep_for;
using weft::sync_wait;
using weft::task;

class Timer : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
};

template <class Duration>
task<> sleeps(Duration time) {
  co_await sleep_for(time);
}
task<> writes_after(std::string& text, char c, clock_type::time_point due) {
  co_await weft::sleep_until(due);
  text += c;
}

TEST_F(Timer, NeverGoesOnTooEarly) {
  for (const auto time : {1ms, 3ms, 10ms}) {
    const auto before = clock_type::now();
    sync_wait(sleeps(time));
    EXPECT_GE(clock_type::now() - before, time);
  }
  const auto before = clock_type::now();
  sync_wait(sleeps(1500us));
  EXPECT_GE(clock_type::now() - before, 1500us);
}

TEST_F(Timer, GoesOnInOrder) {
  std::string text;
  auto all = [](std::string& to) -> task<> {
    const auto now = clock_type::now();
    co_await weft::when_all(writes_after(to, 'c', now + 30ms), writes_after(to, 'a', now + 1ms),
                            writes_after(to, 'b', now + 15ms), writes_after(to, 'd', now + 80ms));
  };
  sync_wait(all(text));
  EXPECT_EQ(text, "abcd");
}

TEST_F(Timer, GoesOnInItsLane) {
  weft::pool pool({.workers = 1});
  auto t = [](weft::pool& p) -> task<bool> {
    co_await sleep_for(1ms);
    co_return weft::pool::current() == &p;
  };
  EXPECT_TRUE(sync_wait(pool, t(pool)));
}

TEST_F(Timer, OfNoOrNegativeTimeIsDueAtOnce) {
  auto t = []() -> task<int> {
    co_await sleep_for(0s);
    co_await sleep_for(-1s);
    co_await sleep_for(std::chrono::hours::min());
    co_await sleep_for(std::chrono::duration<double>(-1e300));
    co_await weft::sleep_until(clock_type::time_point::min());
    co_return 1;
  };
  EXPECT_EQ(sync_wait(t()), 1);
}

TEST_F(Timer, OfAnEternityIsCalledAway) {
  weft::pool pool({.workers = 1});
  std::vector<weft::future<void>> futures;
  futures.push_back(weft::spawn(pool, sleeps(std::chrono::hours::max())));
  futures.push_back(weft::spawn(pool, sleeps(std::chrono::duration<double>(1e300))));
  futures.push_back(weft::spawn(pool, sleeps(clock_type::duration::max())));
  futures.push_back(weft::spawn(pool, sleeps(24h * 365 * 100)));
  // Others go on meanwhile: the queue has not been stopped by a time it cannot tell.
  sync_wait(sleeps(2ms));
  for (auto& f : futures) {
    EXPECT_FALSE(f.ready());
    f.request_stop();
    EXPECT_THROW(f.get(), weft::cancelled);
  }
}

TEST_F(Timer, AskedToStopBeforeDoesNotWait) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(sync_wait(sleeps(24h), stop.get_token()), weft::cancelled);
}

TEST_F(Timer, SoonerOnesOvertakeThoseBefore) {
  weft::pool pool({.workers = 1});
  auto late = weft::spawn(pool, sleeps(24h));
  sync_wait(sleeps(1ms));
  sync_wait(sleeps(5ms));
  late.request_stop();
  EXPECT_THROW(late.get(), weft::cancelled);
}

TEST_F(Timer, TenThousandAllGoOff) {
  weft::pool pool({.workers = 2});
  auto all = [](int n) -> task<> {
    std::vector<task<>> tasks;
    for (int i = 0; i < n; ++i) tasks.push_back(sleeps(std::chrono::milliseconds(i % 20)));
    co_await weft::when_all(std::move(tasks));
  };
  sync_wait(pool, all(10'000));
}

TEST_F(Timer, TenThousandAreCalledAway) {
  weft::pool pool({.workers = 2});
  auto all = [](int n) -> task<> {
    std::vector<task<>> tasks;
    tasks.push_back(sleeps(1ms));
    for (int i = 0; i < n; ++i) tasks.push_back(sleeps(std::chrono::hours(1 + i)));
    co_await weft::when_any(std::move(tasks));
  };
  sync_wait(pool, all(10'000));
}

// Stops come while timers go off.
TEST_F(Timer, MayBeAskedToStopAtAnyMoment) {
  weft::pool pool({.workers = 2});
  for (int i = 0; i < weft::test::rounds(2000); ++i) {
    auto f = weft::spawn(pool, sleeps(std::chrono::microseconds(i % 1500)));
    const auto until = clock_type::now() + std::chrono::microseconds(i * 7 % 2500);
    while (!f.ready() && clock_type::now() < until) std::this_thread::yield();
    f.request_stop();
    try {
      f.get();
    } catch (const weft::cancelled&) {
    }
  }
}

TEST_F(Timer, IsATimeLimitForSomethingElse) {
  auto t = []() -> task<std::size_t> {
    auto forever = []() -> task<int> {
      for (;;) co_await weft::yield();
    };
    auto got = co_await weft::when_any(forever(), sleeps(5ms));
    co_return got.index();
  };
  EXPECT_EQ(sync_wait(t()), 1U);
}

}  // namespace
