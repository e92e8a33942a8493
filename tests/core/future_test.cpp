#include <weft/core/future.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/pool.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class Future : public ::testing::Test {
 protected:
  // A job that keeps the only worker busy until let_go().
  void hold() {
    p.spawn([this] {
      held.count_down();
      out.wait();
    });
    held.wait();
  }
  void let_go() { out.count_down(); }

  std::latch held{1};
  std::latch out{1};
  pool p{{.workers = 1}};
  test::watchdog guard{30s, p};
};

TEST_F(Future, GivesWhatTheJobReturned) {
  EXPECT_EQ(p.submit([] { return 5; }).get(), 5);
  EXPECT_EQ(*p.submit([] { return std::make_unique<int>(6); }).get(), 6);
  int x = 0;
  EXPECT_EQ(&p.submit([&]() -> int& { return x; }).get(), &x);
  p.submit([] {}).get();
}

TEST_F(Future, ThrowsWhatTheJobThrew) {
  EXPECT_THROW(p.submit([]() -> int { throw std::out_of_range("far"); }).get(), std::out_of_range);
  EXPECT_THROW(p.submit([] { throw 3; }).get(), int);
}

TEST_F(Future, WaitDoesNotUseItUp) {
  auto f = p.submit([] { return 5; });
  f.wait();
  f.wait();
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(f.get(), 5);
}

TEST_F(Future, IsNotReadyBeforeTheJobIsDone) {
  hold();
  auto f = p.submit([] { return 5; });
  EXPECT_FALSE(f.ready());
  let_go();
  f.wait();
  EXPECT_TRUE(f.ready());
}

TEST_F(Future, WaitForGivesUpWhenTheTimeIsUp) {
  hold();
  auto f = p.submit([] { return 5; });
  EXPECT_FALSE(f.wait_for(0s));
  EXPECT_FALSE(f.wait_for(1ms));
  EXPECT_FALSE(f.wait_for(-1h));
  EXPECT_FALSE(f.wait_for(std::chrono::hours::min()));
  let_go();
  EXPECT_TRUE(f.wait_for(1h));
  EXPECT_EQ(f.get(), 5);
}

TEST_F(Future, WaitForTakesAnyDuration) {
  EXPECT_TRUE(p.submit([] {}).wait_for(std::chrono::duration<double>(100.0)));
  EXPECT_TRUE(p.submit([] {}).wait_for(std::chrono::nanoseconds::max()));
  EXPECT_TRUE(p.submit([] {}).wait_for(std::chrono::hours::max()));
}

TEST_F(Future, WaitForInsideAJobHelps) {
  EXPECT_TRUE(p.submit([&] { return p.submit([] {}).wait_for(1h); }).get());
}

TEST_F(Future, WaitForInsideAJobGivesUpToo) {
  std::latch never(1);  // before the pool, which waits for the job that uses it
  pool q({.workers = 1});
  auto blocked = q.submit([&] { never.wait(); });
  EXPECT_FALSE(p.submit([&] { return blocked.wait_for(1ms); }).get());
  never.count_down();
}

TEST_F(Future, EveryQuestionToAnEmptyOneIsAnError) {
  future<int> none;
  EXPECT_FALSE(none.valid());
  EXPECT_THROW(none.get(), std::logic_error);
  EXPECT_THROW(none.wait(), std::logic_error);
  EXPECT_THROW(none.wait_for(1s), std::logic_error);
  EXPECT_THROW(static_cast<void>(none.ready()), std::logic_error);
  EXPECT_THROW(none.request_stop(), std::logic_error);
  EXPECT_THROW(auto f = std::move(none).then([](int) {}), std::logic_error);
}

TEST_F(Future, GetWorksOnce) {
  auto f = p.submit([] { return 1; });
  EXPECT_EQ(f.get(), 1);
  EXPECT_FALSE(f.valid());
  try {
    f.get();
    ADD_FAILURE();
  } catch (const std::logic_error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("future::get"));
  }
}

TEST_F(Future, MovesLeaveTheSourceEmpty) {
  auto f = p.submit([] { return 1; });
  auto g = std::move(f);
  EXPECT_FALSE(f.valid());  // NOLINT(bugprone-use-after-move): that is the question
  f = std::move(g);
  EXPECT_EQ(f.get(), 1);
  auto& self = f;
  f = p.submit([] { return 2; });
  f = std::move(self);
  EXPECT_EQ(f.get(), 2);
}

TEST_F(Future, DroppedOneLetsTheJobRun) {
  std::latch ran(1);
  static_cast<void>(p.submit([&] { ran.count_down(); }));
  ran.wait();
}

TEST_F(Future, DroppedOneDestroysTheResult) {
  auto tracked = std::make_shared<int>(0);
  static_cast<void>(p.submit([tracked] { return tracked; }));
  p.shutdown();
  EXPECT_EQ(tracked.use_count(), 1);
}

TEST_F(Future, MayOutliveThePool) {
  std::optional<pool> q(pool_options{.workers = 2});
  auto f = q->submit([] { return std::string("still here"); });
  auto g = q->submit([]() -> int { throw std::out_of_range("far"); });
  q.reset();
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(f.get(), "still here");
  EXPECT_THROW(g.get(), std::out_of_range);
}

TEST_F(Future, WaitInsideTheOnlyWorkerFinishes) {
  EXPECT_EQ(p.submit([&] { return p.submit([] { return 5; }).get(); }).get(), 5);
  EXPECT_EQ(p.run([&] { return p.submit([] { return 5; }).get(); }), 5);
}

struct throws_on_copy {
  throws_on_copy() = default;
  throws_on_copy(const throws_on_copy&) { throw std::domain_error("copied"); }
};
struct throws_on_move {
  throws_on_move() = default;
  throws_on_move(throws_on_move&&) { throw std::domain_error("moved"); }
};

TEST_F(Future, ThrowingCopyOfAResultReachesGet) {
  auto f = p.submit([] { return throws_on_copy(); });
  EXPECT_THROW(f.get(), std::domain_error);
  EXPECT_FALSE(f.valid());
  auto g = p.submit([] { return throws_on_move(); });
  EXPECT_THROW(g.get(), std::domain_error);
  const throws_on_copy original;
  auto h = p.submit([&] { return original; });
  EXPECT_THROW(h.get(), std::domain_error);
}

// -- then ----------------------------------------------------------------------------------------

TEST_F(Future, ThenPassesTheValueOn) {
  auto f = p.submit([] { return 2; }).then([](int x) { return x * 10; }).then([](int x) {
    return std::to_string(x);
  });
  EXPECT_EQ(f.get(), "20");
}

TEST_F(Future, ThenWorksWithVoidReferencesAndMoves) {
  int calls = 0;
  p.submit([&] { ++calls; }).then([&] { ++calls; }).then([&] { ++calls; }).get();
  EXPECT_EQ(calls, 3);
  int x = 0;
  EXPECT_EQ(&p.submit([&]() -> int& { return x; }).then([](int& y) -> int& { return y; }).get(),
            &x);
  EXPECT_EQ(p.submit([] { return std::make_unique<int>(4); })
                .then([](std::unique_ptr<int> u) { return *u; })
                .get(),
            4);
}

TEST_F(Future, ThenUsesTheFutureUp) {
  auto f = p.submit([] { return 2; });
  auto g = std::move(f).then([](int x) { return x; });
  EXPECT_FALSE(f.valid());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(g.get(), 2);
}

TEST_F(Future, ThenOnAReadyOneRunsInThePool) {
  auto f = p.submit([] { return 2; });
  f.wait();
  EXPECT_EQ(std::move(f).then([](int) { return pool::current(); }).get(), &p);
}

TEST_F(Future, ExceptionSkipsThen) {
  bool called = false;
  auto f = p.submit([]() -> int { throw std::out_of_range("far"); }).then([&](int x) {
    called = true;
    return x;
  });
  EXPECT_THROW(f.get(), std::out_of_range);
  EXPECT_FALSE(called);
}

TEST_F(Future, ExceptionInThenReachesGet) {
  auto f = p.submit([] { return 1; }).then([](int) -> int { throw std::out_of_range("far"); });
  EXPECT_THROW(f.get(), std::out_of_range);
}

TEST_F(Future, LongChainOfThenDoesNotNest) {
  pool small({.workers = 1, .stack_size = 256 * 1024});
  const int length = test::rounds(100'000);
  hold();
  auto f = small.submit([this] {
    out.wait();
    return 0;
  });
  for (int i = 0; i < length; ++i) f = std::move(f).then([](int x) { return x + 1; });
  let_go();
  EXPECT_EQ(f.get(), length);
}

TEST_F(Future, DroppedChainStillRuns) {
  std::latch ran(1);
  static_cast<void>(p.submit([] { return 1; }).then([&](int) { ran.count_down(); }));
  ran.wait();
}

TEST_F(Future, ThenPendingAtShutdownStillRuns) {
  hold();
  auto f = p.submit([] { return 1; }).then([](int x) { return x + 1; });
  std::jthread release([this] { let_go(); });
  p.shutdown();
  EXPECT_EQ(f.get(), 2);
}

TEST_F(Future, ThenAfterShutdownOfAReadyOneStillGivesAResult) {
  auto f = p.submit([] { return 1; });
  p.shutdown();
  EXPECT_EQ(std::move(f).then([](int x) { return x + 1; }).get(), 2);
}

TEST_F(Future, ThenInsideTheOnlyWorkerAtItsNestingLimitFinishes) {
  pool shallow({.workers = 1, .nesting_limit = 1});
  const test::watchdog own_guard(20s, shallow);
  auto chain = [&] {
    return shallow.submit([] { return 1; }).then([](int x) { return x + 1; }).get();
  };
  EXPECT_EQ(shallow.submit([&] { return shallow.submit(chain).get(); }).get(), 2);
}

TEST_F(Future, ChainMadeOutsideIsAwaitedAtTheNestingLimit) {
  pool shallow({.workers = 1, .nesting_limit = 1});
  const test::watchdog own_guard(20s, shallow);
  auto result = shallow.submit([&] {
    auto chain = shallow.submit([] { return 1; }).then([](int x) { return x + 1; });
    return shallow.submit([&] { return chain.get(); }).get();
  });
  EXPECT_EQ(result.get(), 2);
}

// -- stop ----------------------------------------------------------------------------------------

TEST_F(Future, StopBeforeTheStartDropsTheJob) {
  hold();
  bool ran = false;
  auto f = p.submit([&] { ran = true; });
  f.request_stop();
  EXPECT_TRUE(f.ready());
  EXPECT_THROW(f.get(), cancelled);
  let_go();
  p.shutdown();
  EXPECT_FALSE(ran);
}

TEST_F(Future, StopWhileRunningReachesTheToken) {
  std::latch inside(1);
  auto f = p.submit([&](const std::stop_token& stop) {
    std::latch stopped(1);
    const std::stop_callback tell(stop, [&] { stopped.count_down(); });
    inside.count_down();
    stopped.wait();
    return 7;
  });
  inside.wait();
  f.request_stop();
  EXPECT_EQ(f.get(), 7);
}

TEST_F(Future, StopAfterTheEndChangesNothing) {
  auto f = p.submit([] { return 3; });
  f.wait();
  f.request_stop();
  EXPECT_EQ(f.get(), 3);
}

TEST_F(Future, StopOfAContinuationDropsItAlone) {
  hold();
  bool first = false;
  auto f = p.submit([&] { first = true; }).then([] {});
  f.request_stop();
  EXPECT_THROW(f.get(), cancelled);
  let_go();
  p.shutdown();
  EXPECT_TRUE(first);
}

TEST_F(Future, StopOfAJobFailsWhatFollows) {
  hold();
  auto f = p.submit([] { return 1; });
  f.request_stop();
  bool called = false;
  auto g = std::move(f).then([&](int) { called = true; });
  let_go();
  EXPECT_THROW(g.get(), cancelled);
  EXPECT_FALSE(called);
}

TEST_F(Future, StopRacesWithTheStart) {
  pool two({.workers = 2});
  for (int i = 0; i < test::rounds(20'000); ++i) {
    std::atomic<bool> ran{false};
    auto f = two.submit([&] { ran = true; });
    f.request_stop();
    try {
      f.get();
      ASSERT_TRUE(ran);
    } catch (const cancelled&) {
      ASSERT_FALSE(ran);
    }
  }
}

TEST_F(Future, ReadyOneIsSeenByManyOutsideThreads) {
  pool two({.workers = 2});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < test::rounds(5000); ++i) {
        ASSERT_EQ(two.submit([i] { return i; }).then([](int x) { return x + 1; }).get(), i + 1);
      }
    });
  }
}

// Counts down when it dies, on whatever thread.
struct mourner {
  explicit mourner(std::atomic<int>& c) : alive(&c) { ++*alive; }
  mourner(mourner&& other) noexcept : alive(std::exchange(other.alive, nullptr)) {}
  ~mourner() {
    if (alive != nullptr) --*alive;
  }
  std::atomic<int>* alive;
};

TEST_F(Future, IsReadyOnlyWhenWhatTheCallableHeldIsGone) {
  for (int i = 0; i < test::rounds(20'000); ++i) {
    std::atomic<int> alive{0};
    p.submit([m = mourner(alive)] { return 1; }).get();
    ASSERT_EQ(alive, 0);
    p.submit([](const mourner&) { return 1; }, mourner(alive)).wait();
    ASSERT_EQ(alive, 0);
    p.submit([] { return 1; }).then([m = mourner(alive)](int x) { return x; }).get();
    ASSERT_EQ(alive, 0);
  }
}

TEST_F(Future, ThatIsStoppedReleasesWhatTheCallableHeld) {
  hold();
  std::atomic<int> alive{0};
  auto f = p.submit([m = mourner(alive)] {});
  f.request_stop();
  EXPECT_EQ(alive, 0);
  auto g = p.submit([] {}).then([m = mourner(alive)] {});
  g.request_stop();
  EXPECT_EQ(alive, 0);
  let_go();
}

TEST_F(Future, LongChainIsCancelledWithoutRecursion) {
  hold();
  auto last = p.submit([] { return 0; });
  for (int i = 0; i < test::rounds(1'000'000); ++i) {
    last = std::move(last).then([](int x) { return x + 1; });
  }
  std::jthread ends([&] { p.shutdown(shutdown_mode::cancel); });
  while (!p.stop_token().stop_requested()) std::this_thread::yield();
  let_go();
  EXPECT_THROW(last.get(), cancelled);
}

TEST_F(Future, ChainMadeOutsideIsAwaitedForSomeTimeAtTheNestingLimit) {
  pool one({.workers = 1, .nesting_limit = 1});
  one.run([&] {
    auto outer = one.submit([&] {
      auto f = one.submit([] { return 1; }).then([](int x) { return x + 1; });
      EXPECT_TRUE(f.wait_for(1h));
      return f.get();
    });
    EXPECT_EQ(outer.get(), 2);
  });
}

TEST_F(Future, LongChainAtTheNestingLimitTakesTimeInProportion) {
  pool one({.workers = 1, .nesting_limit = 1});
  one.run([&] {
    auto outer = one.submit([&] {
      auto last = one.submit([] { return 0; });
      const int links = test::rounds(200'000);  // by the square this would take minutes
      for (int i = 0; i < links; ++i) last = std::move(last).then([](int x) { return x + 1; });
      EXPECT_EQ(last.get(), links);
    });
    outer.get();
  });
}

TEST_F(Future, CallablesAndResultsMayBeOverAligned) {
  struct alignas(256) wide {
    wide() { EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % alignof(wide), 0U); }
    wide(const wide& other) : value(other.value) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % alignof(wide), 0U);
    }
    int value = 7;
  };
  wide w;
  EXPECT_EQ(p.submit([w] { return w; }).get().value, 7);
  EXPECT_EQ(p.submit([](const wide& x) { return x.value; }, w).get(), 7);
  std::latch ran(1);
  p.spawn([w, &ran] { ran.count_down(w.value / 7); });
  ran.wait();
}

}  // namespace
}  // namespace weft
