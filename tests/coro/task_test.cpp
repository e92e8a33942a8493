#include <weft/coro/task.hpp>

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>

namespace {

using weft::sync_wait;
using weft::task;

task<int> answer() { co_return 42; }
task<int> plus_one(task<int> t) { co_return 1 + co_await std::move(t); }

TEST(Task, GivesItsValueToTheOneThatAwaitsIt) { EXPECT_EQ(sync_wait(plus_one(answer())), 43); }

TEST(Task, DoesNothingBeforeItIsAwaited) {
  bool began = false;
  {
    auto t = [](bool& b) -> task<> {
      b = true;
      co_return;
    }(began);
  }
  EXPECT_FALSE(began);
}

TEST(Task, RunsInAPool) {
  weft::pool pool({.workers = 2});
  auto where = [](weft::pool& p) -> task<bool> {
    const bool before = weft::pool::current() == &p;
    co_await weft::schedule_on(p);
    co_return !before && weft::pool::current() == &p;
  };
  EXPECT_TRUE(sync_wait(where(pool)));
  EXPECT_EQ(sync_wait(pool, answer()), 42);
}

TEST(Task, AMillionAwaitsNeedNoMoreStackThanOne) {
  auto loop = []() -> task<long> {
    long sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await answer();
    co_return sum;
  };
  EXPECT_EQ(sync_wait(loop()), 42'000'000);
}

}  // namespace
