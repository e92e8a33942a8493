#include <weft/coro/task.hpp>

#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

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
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using weft::sync_wait;
using weft::task;

class Task : public ::testing::Test {
 protected:
  weft::test::watchdog guard{60s};
};

task<int> answer() { co_return 42; }
task<int> plus_one(task<int> t) { co_return 1 + co_await std::move(t); }
task<int> failing() {
  throw std::runtime_error("it broke");
  co_return 0;
}

TEST_F(Task, GivesItsValueToTheOneThatAwaitsIt) { EXPECT_EQ(sync_wait(plus_one(answer())), 43); }

TEST_F(Task, DoesNothingBeforeItIsAwaited) {
  bool began = false;
  auto held = std::make_shared<int>(1);
  {
    auto t = [](bool& b, std::shared_ptr<int>) -> task<> {
      b = true;
      co_return;
    }(began, held);
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_FALSE(began);
  EXPECT_EQ(held.use_count(), 1) << "a task that never ran keeps its arguments";
}

TEST_F(Task, RunsInAPool) {
  weft::pool pool({.workers = 2});
  auto where = [](weft::pool& p) -> task<bool> {
    const bool before = weft::pool::current() == &p;
    co_await weft::schedule_on(p);
    co_return !before && weft::pool::current() == &p;
  };
  EXPECT_TRUE(sync_wait(where(pool)));
  EXPECT_EQ(sync_wait(pool, answer()), 42);
}

// -- results --------------------------------------------------------------------------------------

TEST_F(Task, ThrowsIntoTheOneThatAwaitsIt) {
  EXPECT_THAT([] { sync_wait(plus_one(failing())); },
              ThrowsMessage<std::runtime_error>("it broke"));
  auto recovers = []() -> task<std::string> {
    try {
      co_await failing();
    } catch (const std::runtime_error& e) {
      co_return e.what();
    }
    co_return "nothing was thrown";
  };
  EXPECT_EQ(sync_wait(recovers()), "it broke");
}

TEST_F(Task, OfNothingThrowsToo) {
  auto nothing = []() -> task<> {
    throw 7;
    co_return;
  };
  EXPECT_THROW(sync_wait(nothing()), int);
}

TEST_F(Task, GivesAwayWhatCanOnlyBeMoved) {
  auto make = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); };
  auto pass = [](task<std::unique_ptr<int>> t) -> task<std::unique_ptr<int>> {
    auto p = co_await std::move(t);
    ++*p;
    co_return std::move(p);
  };
  EXPECT_EQ(*sync_wait(pass(make())), 6);
}

TEST_F(Task, GivesAReferenceToTheVeryObject) {
  int object = 1;
  auto refer = [](int& o) -> task<int&> { co_return o; };
  auto change = [](task<int&> t) -> task<int&> {
    int& o = co_await std::move(t);
    o = 2;
    co_return o;
  };
  EXPECT_EQ(&sync_wait(change(refer(object))), &object);
  EXPECT_EQ(object, 2);
}

TEST_F(Task, ReportsAConversionOfItsResultThatThrows) {
  struct picky {
    picky(int n) : value(n) {
      if (n < 0) throw std::out_of_range("negative");
    }
    int value;
  };
  auto t = [](int n) -> task<picky> { co_return n; };
  EXPECT_NO_THROW(sync_wait(t(1)));
  EXPECT_THROW(sync_wait(t(-1)), std::out_of_range);
}

TEST_F(Task, DestroysItsLocalsBeforeTheParentGoesOn) {
  auto held = std::make_shared<int>(1);
  auto child = [](std::shared_ptr<int> p) -> task<int> {
    const auto local = p;
    co_return *local;
  };
  auto parent = [](auto& make, std::shared_ptr<int>& p) -> task<long> {
    co_await make(p);
    co_return p.use_count();
  };
  EXPECT_EQ(sync_wait(parent(child, held)), 1);
}

// -- mistakes -------------------------------------------------------------------------------------

TEST_F(Task, ThatWasMovedFromOrAwaitedSaysSo) {
  auto twice = []() -> task<> {
    auto t = answer();
    co_await std::move(t);
    EXPECT_FALSE(t.valid());
    co_await std::move(t);
  };
  EXPECT_THAT([&] { sync_wait(twice()); },
              ThrowsMessage<std::logic_error>(
                  AllOf(HasSubstr("co_await of a task without a coroutine"),
                        HasSubstr("moved from or awaited before"), HasSubstr("make a new one"))));
  EXPECT_THAT([] { sync_wait(task<int>()); },
              ThrowsMessage<std::logic_error>(HasSubstr("sync_wait of a task without")));
}

TEST_F(Task, IsReplacedByAnother) {
  auto held = std::make_shared<int>(1);
  auto keep = [](std::shared_ptr<int> p) -> task<int> { co_return *p; };
  auto t = keep(held);
  t = answer();
  EXPECT_EQ(held.use_count(), 1);
  auto& same = t;
  t = std::move(same);
  EXPECT_TRUE(t.valid());
  EXPECT_EQ(sync_wait(std::move(t)), 42);
}

// -- lanes ----------------------------------------------------------------------------------------

TEST_F(Task, GoesOnInItsOwnLaneAfterAChildHasMoved) {
  weft::pool first({.workers = 1});
  weft::pool second({.workers = 1});
  auto child = [](weft::pool& to) -> task<bool> {
    co_await weft::schedule_on(to);
    co_return weft::pool::current() == &to;
  };
  auto parent = [](auto& make, weft::pool& home, weft::pool& other) -> task<bool> {
    const bool moved = co_await make(other);
    co_return moved&& weft::pool::current() == &home;
  };
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(sync_wait(first, parent(child, first, second)));
  auto outside = [](auto& make, weft::pool& other) -> task<bool> {
    const auto before = std::this_thread::get_id();
    const bool moved = co_await make(other);
    co_return moved&& before == std::this_thread::get_id();
  };
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(sync_wait(outside(child, second)));
}

TEST_F(Task, GoesOnInItsOwnLaneAfterAMovedChildHasFailed) {
  weft::pool pool({.workers = 1});
  auto child = [](weft::pool& to) -> task<> {
    co_await weft::schedule_on(to);
    throw 1;
  };
  auto parent = [](auto& make, weft::pool& other) -> task<bool> {
    const auto before = std::this_thread::get_id();
    try {
      co_await make(other);
    } catch (int) {
      co_return before == std::this_thread::get_id();
    }
    co_return false;
  };
  EXPECT_TRUE(sync_wait(parent(child, pool)));
}

// -- stack ----------------------------------------------------------------------------------------

TEST_F(Task, AMillionAwaitsNeedNoMoreStackThanOne) {
  weft::test::on_a_small_stack([] {
    auto loop = []() -> task<long> {
      long sum = 0;
      for (int i = 0; i < 1'000'000; ++i) sum += co_await answer();
      co_return sum;
    };
    EXPECT_EQ(sync_wait(loop()), 42'000'000);
  });
}

TEST_F(Task, AMillionAwaitsThatFailNeedNoMoreStackThanOne) {
  const int rounds = weft::test::rounds(200'000);
  weft::test::on_a_small_stack([rounds] {
    auto loop = [](int n) -> task<int> {
      int failed = 0;
      for (int i = 0; i < n; ++i) {
        try {
          co_await failing();
        } catch (const std::runtime_error&) {
          ++failed;
        }
      }
      co_return failed;
    };
    EXPECT_EQ(sync_wait(loop(rounds)), rounds);
  });
}

task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await nested(depth - 1);
}
task<int> nested_failing(int depth) {
  if (depth == 0) throw std::runtime_error("the innermost");
  co_return 1 + co_await nested_failing(depth - 1);
}

TEST_F(Task, AHundredThousandNestedOnesNeedNoMoreStackThanOne) {
  weft::test::on_a_small_stack([] {
    EXPECT_EQ(sync_wait(nested(100'000)), 100'000);
    EXPECT_THROW(sync_wait(nested_failing(10'000)), std::runtime_error);
  });
}

TEST_F(Task, AHundredThousandNestedOnesRunInAPoolWithSmallStacks) {
  weft::pool pool({.workers = 2, .stack_size = weft::test::small_stack});
  auto outside = [](weft::pool& p) -> task<int> {
    co_await weft::schedule_on(p);
    co_return co_await nested(100'000);
  };
  EXPECT_EQ(sync_wait(outside(pool)), 100'000);
}

// -- awaitables of others -------------------------------------------------------------------------

struct resumed_by_a_thread {
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const {
    std::jthread& to = *runner;  // the frame, and this with it, may be gone once the thread runs
    to = std::jthread([h] { h.resume(); });
  }
  void await_resume() const noexcept {}
  std::jthread* runner;
};

TEST_F(Task, GoesOnWhenAnotherThreadResumesItByItsHandle) {
  std::jthread runner;
  auto child = [](std::jthread& r) -> task<int> {
    co_await resumed_by_a_thread{&r};
    co_return 1 + co_await answer();
  };
  auto parent = [](auto& make, std::jthread& r) -> task<int> { co_return 1 + co_await make(r); };
  EXPECT_EQ(sync_wait(parent(child, runner)), 44);
}

struct resumed_at_once {
  static bool await_ready() noexcept { return false; }
  static void await_suspend(std::coroutine_handle<> h) { h.resume(); }
  static void await_resume() noexcept {}
};

TEST_F(Task, GoesOnWhenItIsResumedByItsHandleBeforeItHasQuiteSuspended) {
  auto child = []() -> task<int> {
    co_await resumed_at_once{};
    co_return co_await answer();
  };
  auto parent = [](auto& make) -> task<int> {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += co_await make();
    co_return sum;
  };
  EXPECT_EQ(sync_wait(parent(child)), 4200);
  weft::pool pool({.workers = 1});
  EXPECT_EQ(sync_wait(pool, parent(child)), 4200);
}

// Whoever resumes B in the middle of A must get on with A also when B waits.
TEST_F(Task, ResumedInTheMiddleOfAnotherDoesNotHoldThatOneUp) {
  struct parked {
    static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const {
      *where = h;
      arrived->count_down();
    }
    void await_resume() const noexcept {}
    std::coroutine_handle<>* where;
    std::latch* arrived;
  };
  std::coroutine_handle<> b;
  std::latch b_is_parked(1);
  weft::async_semaphore gate(1);
  auto held = gate.try_acquire();
  auto task_b = [](parked p, weft::async_semaphore& s) -> task<int> {
    co_await p;
    const int got = co_await answer();
    const auto permit = co_await s.acquire();
    co_return got;
  };
  int got = 0;
  std::jthread other([&] { got = sync_wait(task_b(parked{&b, &b_is_parked}, gate)); });
  b_is_parked.wait();
  auto task_a = [](std::coroutine_handle<>& h, weft::limiter::permit& p) -> task<int> {
    h.resume();
    p = {};
    co_return co_await answer();
  };
  EXPECT_EQ(sync_wait(task_a(b, held)), 42);
  other.join();
  EXPECT_EQ(got, 42);
}

}  // namespace
