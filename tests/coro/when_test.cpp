#include <weft/coro/when.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/async_semaphore.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/this_task.hpp>

#include <coro/small_stack.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using weft::sync_wait;
using weft::task;
using weft::when_all;
using weft::when_any;

// With how many workers; 0: in the thread of sync_wait.
class When : public ::testing::TestWithParam<unsigned> {
 protected:
  template <class T>
  T wait_for(task<T> t) {
    if (GetParam() == 0) return sync_wait(std::move(t));
    weft::pool pool({.workers = GetParam()});
    return sync_wait(pool, std::move(t));
  }
  weft::test::watchdog guard{60s};
};

INSTANTIATE_TEST_SUITE_P(Workers, When, ::testing::Values(0U, 1U, 2U));

task<int> number(int n) { co_return n; }
task<int> number_later(int n, int yields) {
  for (int i = 0; i < yields; ++i) co_await weft::yield();
  co_return n;
}
task<> nothing() { co_return; }
template <class E>
task<int> fails(E e) {
  co_await weft::yield();
  throw e;
}

// Ends only when it is asked to stop; then counts itself.
task<int> waits_for_the_stop(std::atomic<int>& stopped) {
  weft::async_semaphore never(0);
  try {
    const auto permit = co_await never.acquire();
  } catch (const weft::cancelled&) {
    ++stopped;
    throw;
  }
  co_return 0;
}

TEST_P(When, AllGivesTheValuesInOrder) {
  auto t = []() -> task<std::tuple<int, std::string, std::unique_ptr<int>>> {
    auto text = []() -> task<std::string> { co_return "b"; };
    auto moved = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
    co_return co_await when_all(number_later(1, 5), text(), moved());
  };
  const auto [a, b, c] = wait_for(t());
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, "b");
  EXPECT_EQ(*c, 3);
}

TEST_P(When, AllOfARangeGivesAVectorInOrder) {
  auto t = []() -> task<std::vector<int>> {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(number_later(i, (100 - i) % 7));
    co_return co_await when_all(std::move(tasks));
  };
  const auto values = wait_for(t());
  ASSERT_EQ(values.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
}

TEST_P(When, AllOfNoneIsThereAtOnce) {
  auto t = []() -> task<std::size_t> {
    co_await when_all(std::vector<task<>>());
    co_return (co_await when_all(std::vector<task<int>>())).size();
  };
  EXPECT_EQ(wait_for(t()), 0U);
}

TEST_P(When, AllCountsVoidAsMonostate) {
  static_assert(std::is_void_v<decltype(when_all(nothing(), nothing()).await_resume())>);
  static_assert(std::is_same_v<decltype(when_all(number(1), nothing()).await_resume()),
                               std::tuple<int, std::monostate>>);
  auto t = []() -> task<int> {
    co_await when_all(nothing(), nothing());
    std::vector<task<>> range;
    range.push_back(nothing());
    co_await when_all(std::move(range));
    auto both = co_await when_all(number(1), nothing());
    co_return std::get<0>(both);
  };
  EXPECT_EQ(wait_for(t()), 1);
}

TEST_P(When, AllGivesReferencesToTheVeryObjects) {
  int object = 1;
  auto t = [](int& o) -> task<bool> {
    auto refer = [](int& x) -> task<int&> { co_return x; };
    auto [a, b] = co_await when_all(refer(o), number(2));
    co_return &a == &o&& b == 2;
  };
  EXPECT_TRUE(wait_for(t(object)));
}

TEST_P(When, AllThrowsTheFirstErrorByPositionAfterAllHaveEnded) {
  std::atomic<int> ended = 0;
  auto counts = [](std::atomic<int>& n) -> task<int> {
    for (int i = 0; i < 20; ++i) co_await weft::yield();
    ++n;
    co_return 0;
  };
  auto late_failure = []() -> task<int> {
    for (int i = 0; i < 10; ++i) co_await weft::yield();
    throw std::runtime_error("first by position");
  };
  auto tuple = [](auto& c, auto& f, std::atomic<int>& n) -> task<> {
    co_await when_all(c(n), f(), fails(std::logic_error("second")));
  };
  EXPECT_THAT([&] { wait_for(tuple(counts, late_failure, ended)); },
              ThrowsMessage<std::runtime_error>("first by position"));
  EXPECT_EQ(ended, 1);
  auto range = [](auto& c, auto& f, std::atomic<int>& n) -> task<> {
    std::vector<task<int>> tasks;
    tasks.push_back(c(n));
    tasks.push_back(f());
    tasks.push_back(fails(std::logic_error("second")));
    co_await when_all(std::move(tasks));
  };
  EXPECT_THAT([&] { wait_for(range(counts, late_failure, ended)); },
              ThrowsMessage<std::runtime_error>("first by position"));
  EXPECT_EQ(ended, 2);
}

TEST_P(When, AllIsNestedInItself) {
  struct tree {
    static task<int> sum(int depth) {
      if (depth == 0) co_return 1;
      co_await weft::yield();
      auto [l, r] = co_await when_all(sum(depth - 1), sum(depth - 1));
      co_return l + r;
    }
  };
  EXPECT_EQ(wait_for(tree::sum(10)), 1024);
}

TEST_P(When, AllOfATaskWithoutACoroutineSaysSo) {
  auto t = []() -> task<> { co_await when_all(number(1), task<int>()); };
  EXPECT_THAT([&] { wait_for(t()); },
              ThrowsMessage<std::logic_error>(HasSubstr("when_all of a task without")));
}

TEST_P(When, AllGoesOnInItsLaneWhereverTheBranchesEnd) {
  weft::pool other({.workers = 1});
  auto away = [](weft::pool& p) -> task<int> {
    co_await weft::schedule_on(p);
    co_return 1;
  };
  auto t = [](auto& make, weft::pool& p) -> task<bool> {
    auto* const before = weft::pool::current();
    for (int i = 0; i < 100; ++i) {
      co_await when_all(make(p), number(1), make(p));
      if (weft::pool::current() != before) co_return false;
    }
    co_return true;
  };
  EXPECT_TRUE(wait_for(t(away, other)));
}

TEST_P(When, AMillionInALoopNeedNoMoreStackThanOne) {
  const int rounds = weft::test::rounds(1'000'000);
  auto loop = [](int n) -> task<long> {
    long sum = 0;
    for (int i = 0; i < n; ++i) {
      auto [a, b] = co_await when_all(number(1), number(2));
      sum += a + b;
    }
    co_return sum;
  };
  if (GetParam() == 0) {
    weft::test::on_a_small_stack([&] { EXPECT_EQ(sync_wait(loop(rounds)), 3L * rounds); });
  } else {
    weft::pool pool({.workers = GetParam(), .stack_size = weft::test::small_stack});
    weft::test::on_a_small_stack([&] { EXPECT_EQ(sync_wait(pool, loop(rounds)), 3L * rounds); });
  }
}

// -- the first to end -----------------------------------------------------------------------------

TEST_P(When, AnyGivesTheFirstCancelsTheRestAndWaitsForIt) {
  std::atomic<int> stopped = 0;
  auto t = [](std::atomic<int>& n) -> task<int> {
    auto got = co_await when_any(waits_for_the_stop(n), number_later(7, 3), waits_for_the_stop(n));
    if (n != 2 || got.index() != 1) co_return -1;
    co_return std::get<1>(got);
  };
  EXPECT_EQ(wait_for(t(stopped)), 7);
}

TEST_P(When, AnyOfARangeSaysWhichWasFirst) {
  std::atomic<int> stopped = 0;
  auto t = [](std::atomic<int>& n) -> task<weft::first_of<int>> {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 5; ++i) tasks.push_back(waits_for_the_stop(n));
    tasks.push_back(number_later(9, 4));
    co_return co_await when_any(std::move(tasks));
  };
  const auto first = wait_for(t(stopped));
  EXPECT_EQ(first.index, 5U);
  EXPECT_EQ(first.value, 9);
  EXPECT_EQ(stopped, 5);
}

TEST_P(When, AnyOfVoidGivesTheIndexAlone) {
  auto t = []() -> task<std::size_t> {
    std::vector<task<>> tasks;
    tasks.push_back(nothing());
    const auto first = co_await when_any(std::move(tasks));
    auto both = co_await when_any(nothing(), nothing());
    co_return first.index + (both.index() > 1 ? 1 : 0);
  };
  EXPECT_EQ(wait_for(t()), 0U);
}

TEST_P(When, AnyThrowsTheErrorOfTheFirst) {
  std::atomic<int> stopped = 0;
  auto t = [](std::atomic<int>& n) -> task<> {
    co_await when_any(waits_for_the_stop(n), fails(std::runtime_error("won")));
  };
  EXPECT_THAT([&] { wait_for(t(stopped)); }, ThrowsMessage<std::runtime_error>("won"));
  EXPECT_EQ(stopped, 1);
}

TEST_P(When, AnyForgetsTheErrorsOfTheOthers) {
  auto stubborn = []() -> task<int> {
    weft::async_semaphore never(0);
    try {
      const auto permit = co_await never.acquire();
    } catch (const weft::cancelled&) {
      throw std::logic_error("nobody asks");
    }
    co_return 0;
  };
  auto t = [](auto& make) -> task<int> {
    auto got = co_await when_any(make(), number_later(1, 2));
    co_return std::get<1>(got);
  };
  EXPECT_EQ(wait_for(t(stubborn)), 1);
}

TEST_P(When, AnyOfNoneSaysThatItWouldNeverEnd) {
  auto t = []() -> task<> { co_await when_any(std::vector<task<int>>()); };
  EXPECT_THAT([&] { wait_for(t()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("when_any of no tasks")));
}

TEST_P(When, AnyIsNestedInAllAndInItself) {
  std::atomic<int> stopped = 0;
  auto inner = [](std::atomic<int>& n) -> task<int> {
    auto got = co_await when_any(waits_for_the_stop(n), number_later(1, 2));
    co_return std::get<1>(got);
  };
  auto never = [](std::atomic<int>& n) -> task<int> {
    co_await when_all(waits_for_the_stop(n), waits_for_the_stop(n));
    co_return 0;
  };
  auto t = [](auto& i, auto& nv, std::atomic<int>& n) -> task<int> {
    auto [a, b] = co_await when_all(i(n), i(n));
    auto got = co_await when_any(nv(n), i(n));
    co_return a + b + std::get<1>(got);
  };
  EXPECT_EQ(wait_for(t(inner, never, stopped)), 3);
  EXPECT_EQ(stopped, 5);
}

TEST_P(When, AnyTellsItsBranchesByTheirTokensToo) {
  bool asked = false;
  auto listens = [](bool& a) -> task<int> {
    const std::stop_token token = co_await weft::this_task::stop_token();
    while (!co_await weft::this_task::stop_requested()) {
      try {
        co_await weft::yield();
      } catch (const weft::cancelled&) {
        break;
      }
    }
    a = token.stop_requested();
    co_return 0;
  };
  auto t = [](auto& make, bool& a) -> task<> { co_await when_any(make(a), number_later(1, 5)); };
  wait_for(t(listens, asked));
  EXPECT_TRUE(asked);
}

// -- stopping -------------------------------------------------------------------------------------

TEST_P(When, AskedToStopBeforeItBeginsStartsNothing) {
  bool began = false;
  auto notes = [](bool& b) -> task<> {
    b = true;
    co_return;
  };
  auto t = [](auto& make, bool& b, std::stop_source s) -> task<> {
    s.request_stop();
    co_await when_all(make(b), make(b));
  };
  std::stop_source stop;
  EXPECT_THROW(sync_wait(t(notes, began, stop), stop.get_token()), weft::cancelled);
  EXPECT_FALSE(began);
}

TEST_P(When, AskedToStopAsksEveryBranchThatWaits) {
  std::stop_source stop;
  auto stops = [](std::stop_source s) -> task<int> {
    for (int i = 0; i < 3; ++i) co_await weft::yield();
    s.request_stop();
    co_return 1;
  };
  auto waits = []() -> task<bool> {
    weft::async_semaphore never(0);
    try {
      const auto permit = co_await never.acquire();
    } catch (const weft::cancelled&) {
      co_return true;
    }
    co_return false;
  };
  auto t = [](auto& s, auto& w, std::stop_source& source) -> task<bool> {
    auto [a, b, c] = co_await when_all(w(), s(source), w());
    co_return a&& c&& b == 1;
  };
  if (GetParam() == 0) {
    EXPECT_TRUE(sync_wait(t(stops, waits, stop), stop.get_token()));
  } else {
    weft::pool pool({.workers = GetParam()});
    EXPECT_TRUE(sync_wait(pool, t(stops, waits, stop), stop.get_token()));
  }
}

}  // namespace
