#include <weft/coro/sync_wait.hpp>

#include <latch>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/errors.hpp>
#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/this_task.hpp>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using weft::sync_wait;
using weft::task;

class SyncWait : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
};

task<std::thread::id> where() { co_return std::this_thread::get_id(); }

task<> take(weft::async_semaphore& s) { const auto permit = co_await s.acquire(); }

// Announces that it is about to wait.
task<> take_noisily(weft::async_semaphore& s, std::latch& about_to_wait) {
  about_to_wait.count_down();
  const auto permit = co_await s.acquire();
}

task<> yield_often(int times) {
  for (int i = 0; i < times; ++i) co_await weft::yield();
}

TEST_F(SyncWait, RunsInTheCallingThread) {
  EXPECT_EQ(sync_wait(where()), std::this_thread::get_id());
}

TEST_F(SyncWait, ComesBackToTheCallingThread) {
  weft::pool pool({.workers = 1});
  auto away_and_back = [](weft::pool& p) -> task<bool> {
    const auto before = std::this_thread::get_id();
    auto* const home = co_await weft::this_task::lane();
    co_await weft::schedule_on(p);
    const bool away = std::this_thread::get_id() != before;
    co_await weft::schedule_on(*home);
    co_return away&& std::this_thread::get_id() == before;
  };
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(sync_wait(away_and_back(pool)));
}

TEST_F(SyncWait, MayEndInAnotherLane) {
  weft::pool pool({.workers = 2});
  auto away = [](weft::pool& p) -> task<int> {
    co_await weft::schedule_on(p);
    co_return 5;
  };
  for (int i = 0; i < weft::test::rounds(20'000); ++i) ASSERT_EQ(sync_wait(away(pool)), 5);
}

TEST_F(SyncWait, OfAWorkerRunsInItsPool) {
  weft::pool pool({.workers = 1});
  EXPECT_TRUE(pool.run([&] {
    return sync_wait([](weft::pool& p) -> task<bool> {
      co_await weft::yield();
      co_return weft::pool::current() == &p;
    }(pool));
  }));
}

task<int> waits_inside(int depth) {
  co_await weft::yield();
  if (depth == 0) co_return 0;
  co_return 1 + sync_wait(waits_inside(depth - 1));
}

TEST_F(SyncWait, NestsInAPoolOfOneWorker) {
  weft::pool pool({.workers = 1});
  EXPECT_EQ(sync_wait(pool, waits_inside(20)), 20);
  EXPECT_EQ(pool.run([] { return sync_wait(waits_inside(20)); }), 20);
}

TEST_F(SyncWait, NestsDeeperThanThePoolMayHelp) {
  weft::pool pool({.workers = 1, .nesting_limit = 3});
  EXPECT_EQ(sync_wait(pool, waits_inside(10)), 10);
}

TEST_F(SyncWait, HelpsWithOtherJobsMeanwhile) {
  weft::pool pool({.workers = 1});
  pool.run([&] {
    weft::async_semaphore gate(0);
    pool.spawn([&] { gate.set_limit(1); });
    sync_wait(take(gate));
    gate.set_limit(0);
  });
}

// -- stopping -------------------------------------------------------------------------------------

TEST_F(SyncWait, WithATokenThatAsksToStopAlreadyIsCancelledAtTheFirstWait) {
  std::stop_source stop;
  stop.request_stop();
  weft::async_semaphore gate(0);
  EXPECT_THROW(sync_wait(take(gate), stop.get_token()), weft::cancelled);
  weft::pool pool({.workers = 1});
  EXPECT_THROW(sync_wait(pool, take(gate), stop.get_token()), weft::cancelled);
  EXPECT_EQ(gate.limits().waiting(), 0U);
}

TEST_F(SyncWait, IsCalledAwayFromWhatItWaitsFor) {
  weft::pool pool({.workers = 1});
  weft::async_semaphore gate(0);
  for (const bool in_the_pool : {false, true}) {
    for (int i = 0; i < weft::test::rounds(500); ++i) {
      std::stop_source stop;
      std::latch about_to_wait(1);
      std::jthread stopper([&] {
        about_to_wait.wait();
        stop.request_stop();
      });
      auto t = take_noisily(gate, about_to_wait);
      if (in_the_pool) {
        ASSERT_THROW(sync_wait(pool, std::move(t), stop.get_token()), weft::cancelled);
      } else {
        ASSERT_THROW(sync_wait(std::move(t), stop.get_token()), weft::cancelled);
      }
    }
  }
  EXPECT_EQ(gate.limits().waiting(), 0U);
}

TEST_F(SyncWait, IsNotTouchedByATokenThatAsksLater) {
  std::stop_source stop;
  EXPECT_EQ(sync_wait(where(), stop.get_token()), std::this_thread::get_id());
  stop.request_stop();
}

// The stop and the end of the task race; neither hangs, and the task ends once.
TEST_F(SyncWait, MayBeAskedToStopWhileItEnds) {
  weft::pool pool({.workers = 1});
  for (int i = 0; i < weft::test::rounds(2000); ++i) {
    std::stop_source stop;
    std::latch begin(2);
    std::jthread stopper([&] {
      begin.arrive_and_wait();
      stop.request_stop();
    });
    begin.arrive_and_wait();
    try {
      sync_wait(pool, yield_often(i % 4), stop.get_token());
    } catch (const weft::cancelled&) {
    }
  }
}

TEST_F(SyncWait, OfATaskThatAsksItselfToStopIsCancelledAtItsNextWait) {
  std::stop_source stop;
  auto stops_itself = [](std::stop_source& s) -> task<bool> {
    s.request_stop();
    if (!co_await weft::this_task::stop_requested()) co_return false;
    co_await weft::yield();
    co_return false;
  };
  EXPECT_THROW(sync_wait(stops_itself(stop), stop.get_token()), weft::cancelled);
}

// -- pools that have ended ------------------------------------------------------------------------

TEST_F(SyncWait, InAPoolThatHasStoppedSaysSo) {
  weft::pool pool({.workers = 1});
  pool.shutdown();
  EXPECT_THAT([&] { sync_wait(pool, where()); },
              ThrowsMessage<weft::pool_stopped>(HasSubstr("sync_wait after pool::shutdown")));
}

TEST_F(SyncWait, EndsWhenItsPoolIsCancelledUnderIt) {
  for (int i = 0; i < weft::test::rounds(200); ++i) {
    weft::pool pool({.workers = 2});
    std::latch running(1);
    auto forever = [](std::latch& r) -> task<> {
      r.count_down();
      for (;;) co_await weft::yield();
    };
    std::jthread waits([&] { EXPECT_THROW(sync_wait(pool, forever(running)), weft::cancelled); });
    running.wait();
    pool.shutdown(weft::shutdown_mode::cancel);
  }
}

// The task has nowhere to go on but where it is; a loop must not pile up on the stack.
TEST_F(SyncWait, GoesOnInTheCallerWhenItsLaneHasEnded) {
  weft::pool pool({.workers = 1});
  pool.shutdown();
  auto late = [](weft::pool& p) -> task<int> {
    co_await weft::schedule_on(p);
    for (int i = 0; i < 1'000'000; ++i) co_await weft::yield();
    for (int i = 0; i < 1'000'000; ++i) co_await weft::schedule_on(p);
    co_return 3;
  };
  EXPECT_EQ(sync_wait(late(pool)), 3);
}

}  // namespace
