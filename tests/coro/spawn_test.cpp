#include <weft/coro/spawn.hpp>

#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/coro/when.hpp>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using weft::task;

class Spawn : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
  weft::pool pool{{.workers = 2}};
};

task<int> number(int n) { co_return n; }

task<> waits(weft::async_semaphore& gate, std::latch& about_to_wait) {
  about_to_wait.count_down();
  const auto permit = co_await gate.acquire();
}

TEST_F(Spawn, GivesTheResultToTheFuture) {
  EXPECT_EQ(weft::spawn(pool, number(5)).get(), 5);
  auto nothing = []() -> task<> { co_return; };
  EXPECT_NO_THROW(weft::spawn(pool, nothing()).get());
  auto moved = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
  EXPECT_EQ(*weft::spawn(pool, moved()).get(), 4);
  int object = 0;
  auto refers = [](int& o) -> task<int&> { co_return o; };
  EXPECT_EQ(&weft::spawn(pool, refers(object)).get(), &object);
}

TEST_F(Spawn, GivesTheErrorToTheFuture) {
  auto fails = []() -> task<int> {
    co_await weft::yield();
    throw std::runtime_error("it broke");
  };
  EXPECT_THAT([&] { weft::spawn(pool, fails()).get(); },
              ThrowsMessage<std::runtime_error>("it broke"));
}

TEST_F(Spawn, RunsInThePool) {
  auto where = [](weft::pool& p) -> task<bool> { co_return weft::pool::current() == &p; };
  EXPECT_TRUE(weft::spawn(pool, where(pool)).get());
}

TEST_F(Spawn, ReleasesWhatTheTaskHeldBeforeTheFutureIsReady) {
  for (int i = 0; i < weft::test::rounds(2000); ++i) {
    auto held = std::make_shared<int>(1);
    auto keeps = [](std::shared_ptr<int> p) -> task<int> {
      co_await weft::yield();
      co_return *p;
    };
    auto f = weft::spawn(pool, keeps(held));
    f.wait();
    ASSERT_EQ(held.use_count(), 1);
  }
}

TEST_F(Spawn, GoesOnWithFuturesThatFollow) {
  EXPECT_EQ(weft::spawn(pool, number(5)).then([](int x) { return x + 1; }).get(), 6);
}

TEST_F(Spawn, RunsAlsoWhenItsFutureIsDropped) {
  std::latch ran(1);
  auto t = [](std::latch& l) -> task<> {
    co_await weft::yield();
    l.count_down();
  };
  static_cast<void>(weft::spawn(pool, t(ran)));
  ran.wait();
  pool.shutdown();
}

TEST_F(Spawn, OfATaskWithoutACoroutineSaysSo) {
  EXPECT_THAT([&] { static_cast<void>(weft::spawn(pool, task<int>())); },
              ThrowsMessage<std::logic_error>(HasSubstr("spawn of a task without")));
}

TEST_F(Spawn, IntoAPoolThatHasStoppedSaysSoAndDestroysTheTask) {
  pool.shutdown();
  auto held = std::make_shared<int>(1);
  auto keeps = [](std::shared_ptr<int> p) -> task<int> { co_return *p; };
  EXPECT_THAT([&] { static_cast<void>(weft::spawn(pool, keeps(held))); },
              ThrowsMessage<weft::pool_stopped>(HasSubstr("spawn after pool::shutdown")));
  EXPECT_EQ(held.use_count(), 1);
}

// -- stopping -------------------------------------------------------------------------------------

TEST_F(Spawn, AskedToStopBeforeItBeginsNeverBegins) {
  weft::pool one({.workers = 1});
  std::latch occupied(1);
  std::latch go_on(1);
  one.spawn([&] {
    occupied.count_down();
    go_on.wait();
  });
  occupied.wait();
  bool began = false;
  auto held = std::make_shared<int>(1);
  auto t = [](bool& b, std::shared_ptr<int>) -> task<> {
    b = true;
    co_return;
  };
  auto f = weft::spawn(one, t(began, held));
  f.request_stop();
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THROW(f.get(), weft::cancelled);
  go_on.count_down();
  one.shutdown();
  EXPECT_FALSE(began);
}

TEST_F(Spawn, AskedToStopWhileItWaitsIsCalledAway) {
  weft::async_semaphore gate(0);
  for (int i = 0; i < weft::test::rounds(5000); ++i) {
    std::latch about_to_wait(1);
    auto f = weft::spawn(pool, waits(gate, about_to_wait));
    about_to_wait.wait();
    f.request_stop();
    ASSERT_THROW(f.get(), weft::cancelled);
  }
  EXPECT_EQ(gate.limits().waiting(), 0U);
}

TEST_F(Spawn, AskedToStopInsideNestedBranchesIsCalledAway) {
  struct tree {
    static task<> grow(int depth, weft::async_semaphore& gate, std::latch& leaves) {
      if (depth == 0) co_return co_await waits(gate, leaves);
      if (depth % 2 == 0) {
        co_await weft::when_all(grow(depth - 1, gate, leaves), grow(depth - 1, gate, leaves));
      } else {
        co_await weft::when_any(grow(depth - 1, gate, leaves), grow(depth - 1, gate, leaves));
      }
    }
  };
  weft::async_semaphore gate(0);
  for (int i = 0; i < weft::test::rounds(1000); ++i) {
    std::latch leaves(16);
    auto f = weft::spawn(pool, tree::grow(4, gate, leaves));
    leaves.wait();
    f.request_stop();
    ASSERT_THROW(f.get(), weft::cancelled);
  }
  EXPECT_EQ(gate.limits().waiting(), 0U);
}

TEST_F(Spawn, AskedToStopAfterItsEndKeepsItsResult) {
  auto f = weft::spawn(pool, number(5));
  f.wait();
  f.request_stop();
  EXPECT_EQ(f.get(), 5);
}

TEST_F(Spawn, MayBeAskedToStopAtAnyMoment) {
  auto t = [](int n) -> task<int> {
    for (int i = 0; i < n; ++i) co_await weft::yield();
    co_return n;
  };
  int ended = 0;
  const int rounds = weft::test::rounds(20'000);
  for (int i = 0; i < rounds; ++i) {
    auto f = weft::spawn(pool, t(i % 8));
    for (int k = 0; k < i % 50; ++k) std::this_thread::yield();
    f.request_stop();
    try {
      ASSERT_EQ(f.get(), i % 8);
    } catch (const weft::cancelled&) {
    }
    ++ended;
  }
  EXPECT_EQ(ended, rounds);
}

// The permit and the stop come at the same time: one of them wins, and no permit is lost.
TEST_F(Spawn, AskedToStopWhileItIsGrantedLosesNothing) {
  weft::async_semaphore gate(1);
  for (int i = 0; i < weft::test::rounds(5000); ++i) {
    auto held = gate.limits().acquire();
    std::latch about_to_wait(1);
    std::latch begin(2);
    auto f = weft::spawn(pool, waits(gate, about_to_wait));
    about_to_wait.wait();
    std::jthread gives_back([&] {
      begin.arrive_and_wait();
      held = {};
    });
    begin.arrive_and_wait();
    f.request_stop();
    try {
      f.get();
    } catch (const weft::cancelled&) {
    }
    gives_back.join();
    ASSERT_EQ(gate.limits().in_use(), 0U);
  }
}

TEST_F(Spawn, TokenSaysThatItWasAskedToStop) {
  for (const bool ask_for_it_before : {true, false}) {
    std::latch running(1);
    auto t = [](std::latch& r, bool before) -> task<bool> {
      std::stop_token token;
      if (before) token = co_await weft::this_task::stop_token();
      r.count_down();
      while (!co_await weft::this_task::stop_requested()) std::this_thread::yield();
      token = co_await weft::this_task::stop_token();
      while (!token.stop_requested()) std::this_thread::yield();
      co_return true;
    };
    auto f = weft::spawn(pool, t(running, ask_for_it_before));
    running.wait();
    f.request_stop();
    EXPECT_TRUE(f.get());
  }
}

// -- pools that end -------------------------------------------------------------------------------

TEST_F(Spawn, DroppedByAPoolThatIsCancelledIsCancelled) {
  std::optional<weft::pool> one(std::in_place, weft::pool_options{.workers = 1});
  std::latch occupied(1);
  std::latch go_on(1);
  one->spawn([&] {
    occupied.count_down();
    go_on.wait();
  });
  occupied.wait();
  auto f = weft::spawn(*one, number(1));
  std::jthread ends([&] { one->shutdown(weft::shutdown_mode::cancel); });
  while (true) {  // until the pool takes nothing more
    try {
      one->spawn([] {});
    } catch (const weft::pool_stopped&) {
      break;
    }
  }
  go_on.count_down();
  ends.join();
  EXPECT_THROW(f.get(), weft::cancelled);
}

TEST_F(Spawn, GoesOnInTheOneThatWakesItWhenItsPoolHasGone) {
  weft::channel<int> values(0);
  auto t = [](weft::channel<int>& c) -> task<int> {
    const auto first = co_await c.receive();
    co_await weft::yield();
    co_return *first;
  };
  weft::future<int> f;
  {
    weft::pool short_lived({.workers = 1});
    f = weft::spawn(short_lived, t(values));
    short_lived.shutdown();  // runs what is queued; the task waits in no queue
  }
  int value = 7;
  ASSERT_TRUE(values.try_send(value));
  EXPECT_EQ(f.get(), 7);
}

TEST_F(Spawn, IsAwaitedByAWorkerDeeperThanThePoolMayHelp) {
  struct nest {
    static int of(weft::pool& p, int depth) {
      auto t = [](weft::pool& q, int d) -> task<int> {
        co_await weft::yield();
        co_return d == 0 ? 0 : 1 + of(q, d - 1);
      };
      return weft::spawn(p, t(p, depth)).get();
    }
  };
  weft::pool one({.workers = 1, .nesting_limit = 3});
  EXPECT_EQ(one.run([&] { return nest::of(one, 10); }), 10);
}

}  // namespace
