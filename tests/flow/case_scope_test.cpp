#include <weft/flow/case_scope.hpp>

#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/coro/async_event.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/sync_wait.hpp>

#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

class CaseScope : public ::testing::Test {
 protected:
  void note(int x) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(x);
  }

  pool pool_{{.workers = 2}};
  test::watchdog watchdog_{60s, pool_};
  std::mutex mutex_;
  std::vector<int> seen_;
};

TEST_F(CaseScope, InstancesOutliveTheActivityThatStartedThem) {
  std::latch gate(1);
  case_scope c(pool_);
  {
    const std::vector<int> infringements{1, 2, 3};  // the activity's own
    EXPECT_TRUE(c.each(infringements, [&](int x) {
      gate.wait();
      note(x);
    }));
  }
  EXPECT_EQ(c.progress().ended(), 0U) << "nobody has joined them";
  gate.count_down();
  sync_wait(c.join());
  EXPECT_THAT(seen_, UnorderedElementsAre(1, 2, 3));
}

TEST_F(CaseScope, TakesWhateverBelongsToTheCase) {
  case_scope c(pool_);
  c.spawn([&] { note(1); });
  c.spawn([&](const std::stop_token&) { note(2); });
  c.spawn([&]() -> task<> {
    note(3);
    co_return;
  });
  c.spawn([](auto* test) -> task<> {
    test->note(4);
    co_return;
  }(this));
  c.each(std::vector{5}, [&](const std::stop_token&, int x) { note(x); });
  c.each(std::vector{6}, [&](int x) -> task<> {
    note(x);
    co_return;
  });
  std::vector<std::unique_ptr<int>> boxes;
  boxes.push_back(std::make_unique<int>(7));
  c.each(std::views::transform(boxes, [](auto& b) { return std::move(b); }),
         [&](const std::unique_ptr<int>& b) { note(*b); });
  sync_wait(c.join());
  EXPECT_THAT(seen_, UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST_F(CaseScope, DestructorWaitsForAllAndCancelsNobody) {
  std::latch gate(1);
  {
    case_scope c(pool_);
    c.each(std::vector{1, 2}, [&](int x) {
      gate.wait();
      note(x);
    });
    gate.count_down();
  }
  EXPECT_THAT(seen_, UnorderedElementsAre(1, 2));
}

TEST_F(CaseScope, DestructorCancelsWhenAnExceptionEndsTheCase) {
  async_event never;
  EXPECT_THAT(
      [&] {
        case_scope c(pool_);
        c.spawn([&]() -> task<> { co_await never.wait(); });
        throw std::runtime_error("the case is closed");
      },
      ThrowsMessage<std::runtime_error>("the case is closed"));
}

TEST_F(CaseScope, JoinThrowsTheFirstErrorAfterAllHaveEnded) {
  case_scope c(pool_);
  c.each(std::vector{1, 2, 3}, [&](int x) {
    note(x);
    if (x > 1) throw std::runtime_error("error " + std::to_string(x));
  });
  EXPECT_THAT([&] { sync_wait(c.join()); }, ThrowsMessage<std::runtime_error>("error 2"));
  EXPECT_THAT(seen_, UnorderedElementsAre(1, 2, 3));
}

TEST_F(CaseScope, InstancesStartOthersWhileTheCaseIsJoined) {
  case_scope c(pool_);
  c.spawn([&] {
    EXPECT_TRUE(c.spawn([&] { note(2); }));
    note(1);
  });
  sync_wait(c.join());
  EXPECT_THAT(seen_, UnorderedElementsAre(1, 2));
  EXPECT_FALSE(c.spawn([] {})) << "the case has ended";
  EXPECT_FALSE(c.each(std::vector{1}, [](int) {}));
}

TEST_F(CaseScope, CancelWithdrawsWhatHasNotEnded) {
  async_event never;
  case_scope c(pool_);
  c.each(std::vector{1, 2}, [&](int) -> task<> { co_await never.wait(); });
  c.cancel();
  EXPECT_THROW(sync_wait(c.join()), cancelled);
}

TEST_F(CaseScope, IsAskedToStopWithTheTaskThatJoins) {
  async_event never;
  std::latch begun(1);
  std::stop_source stop;
  case_scope c(pool_);
  c.spawn([&]() -> task<> {
    begun.count_down();
    co_await never.wait();
  });
  begun.wait();
  stop.request_stop();
  EXPECT_THROW(sync_wait(c.join(), stop.get_token()), cancelled);
}

TEST_F(CaseScope, RunsInstancesWhereTheyBelongAndUnderTheirNames) {
  hybrid_scheduler hs({.cpu_workers = 1});
  const auto where = [&hs] { return pool::current() == &hs.cpu_pool() ? 1 : 0; };
  async_event begun;
  async_event end;
  case_scope c(hs);
  c.spawn([&] { note(where()); });
  c.spawn([&] { note(where()); }, {.lane = lane_kind::blocking});
  c.each(std::vector{0},
         [&](int) -> task<> {
           note(where());
           begun.set();
           co_await end.wait();
         },
         {.name = "notice"});
  sync_wait([](async_event& e) -> task<> { co_await e.wait(); }(begun));
  EXPECT_THAT(hs.dump(), HasSubstr("notice"));
  end.set();
  sync_wait(c.join());
  EXPECT_THAT(seen_, UnorderedElementsAre(1, 0, 0));
}

// Else the thread would wait for what only it can end.
TEST(CaseScopeDeathTest, DestroyedOnTheIoThreadThatSomeInstanceNeedsSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto die = [] {
    hybrid_scheduler hs({.cpu_workers = 1});
    async_event never;
    hs.spawn_io([](hybrid_scheduler& s, async_event& e) -> task<> {
        case_scope c(s);
        c.spawn([](async_event& event) -> task<> { co_await event.wait(); }(e));
        c.spawn([] {});
        co_return;
      }(hs, never))
        .get();
  };
  EXPECT_DEATH(die(), "co_await join\\(\\) or drain\\(\\) before");
}

TEST(CaseScopeOnAnIoThread, IsDestroyedWhenWhatNeedsThatThreadHasEnded) {
  hybrid_scheduler hs({.cpu_workers = 1});
  std::latch scope_is_left(1);
  bool ended = false;
  struct says_so {
    std::latch& left;
    ~says_so() { left.count_down(); }
  };
  const auto leave = [&]() -> task<> {
    async_event io_ended;
    case_scope c(hs);
    const says_so goes_before_the_case{scope_is_left};
    c.spawn([&] {
      scope_is_left.wait();
      ended = true;
    });
    c.spawn([](async_event& e) -> task<> {
      e.set();
      co_return;
    }(io_ended));
    co_await io_ended.wait();
    while (c.progress().values == 0) co_await yield();
  };
  hs.spawn_io(leave()).get();
  EXPECT_TRUE(ended);
}

// A lane that has what was withdrawn keeps memory of the case, but nothing of the user's.
TEST_F(CaseScope, LetsErrorsAndWorkGoWithIt) {
  struct failure : std::runtime_error {
    explicit failure(std::shared_ptr<int> h) : std::runtime_error("bad"), held(std::move(h)) {}
    std::shared_ptr<int> held;
  };
  const auto held = std::make_shared<int>();
  std::latch busy(1);
  std::latch free(1);
  pool one({.workers = 1});
  hybrid_scheduler hs({.cpu_pool = &one});
  one.spawn([&] {
    busy.count_down();
    free.wait();
  });
  busy.wait();
  {
    case_scope c(hs);
    c.spawn([](std::shared_ptr<int> h) -> task<> {
      throw failure(std::move(h));
      co_return;
    }(held));
    async_event thrown;  // there is one I/O thread
    c.spawn([](async_event& e) -> task<> {
      e.set();
      co_return;
    }(thrown));
    sync_wait([](async_event& e) -> task<> { co_await e.wait(); }(thrown));
    EXPECT_EQ(c.progress().errors, 1U);
    c.spawn([](std::shared_ptr<int>) -> task<> { co_return; }(held),
            {.lane = static_cast<lane_kind>(9)});  // could not start
    c.spawn([] {});                                // is withdrawn
    c.cancel();
  }
  EXPECT_EQ(held.use_count(), 1);
  free.count_down();
}

TEST_F(CaseScope, RefusesWhatCannotRun) {
  case_scope c(pool_);
  void (*const empty)() = nullptr;
  EXPECT_THROW(c.spawn(empty), std::invalid_argument);
  EXPECT_THROW(c.spawn(task<>()), std::logic_error);
}

}  // namespace
}  // namespace weft
