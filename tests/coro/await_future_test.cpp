#include <weft/coro/await_future.hpp>

#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/pool.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/when.hpp>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using weft::future;
using weft::sync_wait;
using weft::task;

class AwaitFuture : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
  weft::pool pool{{.workers = 2}};
};

template <class T>
task<T> await(future<T> f) {
  co_return co_await std::move(f);
}

TEST_F(AwaitFuture, GivesAValueThatIsThere) {
  auto f = pool.submit([] { return 3; });
  f.wait();
  EXPECT_EQ(sync_wait(await(std::move(f))), 3);
}

TEST_F(AwaitFuture, WaitsForAValueThatIsNot) {
  std::latch go_on(1);
  auto both = [](future<int> f, std::latch& l) -> task<int> {
    auto releases = [](std::latch& x) -> task<int> {
      x.count_down();
      co_return 0;
    };
    auto [a, b] = co_await weft::when_all(await(std::move(f)), releases(l));
    co_return a;
  };
  auto f = pool.submit([&] {
    go_on.wait();
    return 4;
  });
  EXPECT_EQ(sync_wait(both(std::move(f), go_on)), 4);
}

TEST_F(AwaitFuture, RacesWithTheEndOfTheJob) {
  auto sum = [](weft::pool& p, int n) -> task<long> {
    long s = 0;
    for (int i = 0; i < n; ++i) s += co_await p.submit([] { return 2; });
    co_return s;
  };
  const int rounds = weft::test::rounds(50'000);
  EXPECT_EQ(sync_wait(sum(pool, rounds)), 2L * rounds);
  EXPECT_EQ(sync_wait(pool, sum(pool, rounds)), 2L * rounds);
}

TEST_F(AwaitFuture, ThrowsWhatTheJobThrew) {
  EXPECT_THROW(sync_wait(await(pool.submit([] { throw std::runtime_error("x"); }))),
               std::runtime_error);
}

TEST_F(AwaitFuture, GivesWhatCanOnlyBeMoved) {
  EXPECT_EQ(*sync_wait(await(pool.submit([] { return std::make_unique<int>(4); }))), 4);
}

TEST_F(AwaitFuture, OfATaskIsOneToo) {
  auto t = []() -> task<int> {
    co_await weft::yield();
    co_return 6;
  };
  EXPECT_EQ(sync_wait(await(weft::spawn(pool, t()))), 6);
}

TEST_F(AwaitFuture, WithoutAResultSaysSo) {
  EXPECT_THAT([] { sync_wait(await(future<int>())); },
              ThrowsMessage<std::logic_error>(HasSubstr("future without a result")));
}

TEST_F(AwaitFuture, OfAJobThatWasDroppedThrowsCancelled) {
  std::latch occupied(1);
  std::latch go_on(1);
  weft::pool one({.workers = 1});
  one.spawn([&] {
    occupied.count_down();
    go_on.wait();
  });
  occupied.wait();
  auto f = one.submit([] { return 1; });
  f.request_stop();
  EXPECT_THROW(sync_wait(await(std::move(f))), weft::cancelled);
  go_on.count_down();
}

// -- stopping -------------------------------------------------------------------------------------

TEST_F(AwaitFuture, IsCalledAwayWhileTheJobGoesOn) {
  for (int i = 0; i < weft::test::rounds(300); ++i) {
    auto go_on = std::make_shared<std::latch>(1);
    auto ended = std::make_shared<std::latch>(1);
    std::stop_source stop;
    auto t = [](future<void> f, std::stop_source& s) -> task<> {
      // A branch that stops the other after it has begun to wait, or before: both happen.
      auto stops = [](std::stop_source& x) -> task<> {
        x.request_stop();
        co_return;
      };
      co_await weft::when_all(await(std::move(f)), stops(s));
    };
    auto f = pool.submit([=] {
      go_on->wait();
      ended->count_down();
    });
    ASSERT_THROW(sync_wait(t(std::move(f), stop), stop.get_token()), weft::cancelled);
    go_on->count_down();
    ended->wait();  // the job was not stopped, and wakes nobody
  }
}

TEST_F(AwaitFuture, IsCalledAwayOrGetsTheValueWhenBothComeAtOnce) {
  for (int i = 0; i < weft::test::rounds(5000); ++i) {
    auto go_on = std::make_shared<std::latch>(2);
    auto f = pool.submit([=] {
      go_on->arrive_and_wait();
      return 1;
    });
    auto waiter = weft::spawn(pool, await(std::move(f)));
    go_on->arrive_and_wait();
    waiter.request_stop();
    try {
      ASSERT_EQ(waiter.get(), 1);
    } catch (const weft::cancelled&) {
    }
  }
}

TEST_F(AwaitFuture, AskedToStopBeforeDoesNotWait) {
  std::latch go_on(1);
  weft::pool one({.workers = 1});
  std::stop_source stop;
  stop.request_stop();
  auto f = one.submit([&] { go_on.wait(); });
  EXPECT_THROW(sync_wait(await(std::move(f)), stop.get_token()), weft::cancelled);
  go_on.count_down();
}

}  // namespace
