#include <weft/coro/schedule_on.hpp>

#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/spawn.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/coro/when.hpp>

#include <coro/small_stack.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using weft::sync_wait;
using weft::task;

class ScheduleOn : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
};
using Yield = ScheduleOn;

TEST_F(ScheduleOn, MovesTheTaskToThatPoolAndNoFurther) {
  weft::pool a({.workers = 1});
  weft::pool b({.workers = 1});
  auto hops = [](weft::pool& first, weft::pool& second) -> task<bool> {
    for (int i = 0; i < 200; ++i) {
      co_await weft::schedule_on(first);
      if (weft::pool::current() != &first) co_return false;
      co_await weft::schedule_on(second);
      if (weft::pool::current() != &second) co_return false;
    }
    co_return true;
  };
  EXPECT_TRUE(sync_wait(hops(a, b)));
}

TEST_F(ScheduleOn, TheLaneItIsInDoesNothing) {
  weft::pool pool({.workers = 2});
  auto stays = [](weft::pool& p) -> task<bool> {
    const auto before = std::this_thread::get_id();
    co_await weft::schedule_on(p);
    co_return before == std::this_thread::get_id();
  };
  EXPECT_TRUE(sync_wait(pool, stays(pool)));
}

TEST_F(ScheduleOn, IsNoPointWhereStoppingIsNoticed) {
  weft::pool pool({.workers = 1});
  std::stop_source stop;
  stop.request_stop();
  auto cleans_up = [](weft::pool& p) -> task<bool> {
    co_await weft::schedule_on(p);
    co_return co_await weft::this_task::stop_requested();
  };
  EXPECT_TRUE(sync_wait(cleans_up(pool), stop.get_token()));
}

// Whoever sends the task there may still be on the way out when it has ended, and the pool with it.
TEST_F(ScheduleOn, APoolMayGoAsSoonAsTheTaskHasEndedThere) {
  weft::pool lasting({.workers = 1});
  auto hops = [](weft::pool& to) -> task<int> {
    co_await weft::schedule_on(to);
    co_return 1;
  };
  for (int i = 0; i < weft::test::rounds(5000); ++i) {
    weft::pool short_lived({.workers = 1});
    ASSERT_EQ(weft::spawn(lasting, hops(short_lived)).get(), 1);
  }
}

// -- yield ----------------------------------------------------------------------------------------

task<> writes(std::string& text, char c, int times) {
  for (int i = 0; i < times; ++i) {
    text += c;
    co_await weft::yield();
  }
}

TEST_F(Yield, OfTwoTasksInOneThreadAlternates) {
  std::string text;
  auto both = [](std::string& t) -> task<> {
    co_await weft::when_all(writes(t, 'a', 5), writes(t, 'b', 5));
  };
  sync_wait(both(text));
  EXPECT_EQ(text, "ababababab");
  text.clear();
  weft::pool pool({.workers = 1});
  sync_wait(pool, both(text));
  EXPECT_EQ(text, "ababababab");
}

TEST_F(Yield, OfThreeTasksOnOneWorkerGoesRound) {
  std::string text;
  auto three = [](std::string& t) -> task<> {
    co_await weft::when_all(writes(t, 'a', 4), writes(t, 'b', 4), writes(t, 'c', 4));
  };
  weft::pool pool({.workers = 1});
  sync_wait(pool, three(text));
  const std::string round = text.substr(3, 3);  // once all have begun, and before one has ended
  EXPECT_EQ(text.substr(6, 3), round) << text;
  EXPECT_THAT(round, ::testing::UnorderedElementsAre('a', 'b', 'c'));
}

TEST_F(Yield, LetsEverythingThatIsQueuedGoFirst) {
  std::string text;
  auto yields = [](std::string& t, weft::pool& p) -> task<> {
    for (int i = 0; i < 5; ++i) p.spawn([&t] { t += 'j'; });
    co_await weft::yield();
    t += 'y';
  };
  weft::pool pool({.workers = 1});
  sync_wait(pool, yields(text, pool));
  EXPECT_EQ(text, "jjjjjy");
}

TEST_F(Yield, ThrowsWhenTheTaskWasAskedToStop) {
  std::stop_source stop;
  auto t = [](std::stop_source& s) -> task<> {
    co_await weft::yield();
    s.request_stop();
    EXPECT_TRUE(co_await weft::this_task::stop_requested());
    co_await weft::yield();
    ADD_FAILURE() << "went on after it was asked to stop";
  };
  EXPECT_THROW(sync_wait(t(stop), stop.get_token()), weft::cancelled);
}

TEST_F(Yield, AMillionInALoopNeedNoMoreStackThanOne) {
  auto loop = [](int n) -> task<int> {
    for (int i = 0; i < n; ++i) co_await weft::yield();
    co_return n;
  };
  const int rounds = weft::test::rounds(1'000'000);
  weft::test::on_a_small_stack([&] { EXPECT_EQ(sync_wait(loop(rounds)), rounds); });
  weft::pool pool({.workers = 2, .stack_size = weft::test::small_stack});
  weft::test::on_a_small_stack([&] { EXPECT_EQ(sync_wait(pool, loop(rounds)), rounds); });
}

}  // namespace
