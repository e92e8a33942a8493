// An executor used as nobody should: shut down in the middle, nested, from several places, left.

#include <weft/exec/executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr auto fixed = weft::sizing_policy::fixed;

TEST(Shutdown, RunsWhatWasSubmittedAndMayBeRepeated) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::atomic<int> ran = 0;
  for (int i = 0; i < 100; ++i) static_cast<void>(ex.submit([&] { ++ran; }));
  ex.shutdown();
  EXPECT_EQ(ran, 100);
  ex.shutdown({.wait = false, .cancel_futures = true});
  ex.shutdown();
  EXPECT_THROW(static_cast<void>(ex.submit([] {})), weft::executor_stopped);
}

TEST(Shutdown, CancelsWhatHasNotBegunWhenAsked) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::latch begun(2);
  std::latch release(1);
  const auto busy = [&] {
    begun.count_down();
    release.wait();
    return 1;
  };
  auto first = ex.submit(busy);
  auto second = ex.submit(busy);
  begun.wait();
  auto queued = ex.submit([] { return 2; });
  ex.shutdown({.wait = false, .cancel_futures = true});
  release.count_down();
  EXPECT_EQ(first.get() + second.get(), 2);
  EXPECT_THROW(queued.get(), weft::cancelled);
}

TEST(Shutdown, FromATaskDoesNotWaitForItself) {
  const weft::test::watchdog guard(60s);
  for (const unsigned workers : {1U, 2U}) {
    weft::executor ex({.max_workers = workers, .sizing = fixed});
    ex.submit([&] { ex.shutdown(); }).get();
    EXPECT_THROW(static_cast<void>(ex.submit([] {})), weft::executor_stopped);
  }
}

TEST(Shutdown, FromSeveralThreadsAtOnce) {
  const weft::test::watchdog guard(60s);
  for (int round = 0; round < weft::test::rounds(100); ++round) {
    weft::executor ex({.max_workers = 3, .sizing = fixed});
    std::atomic<int> ran = 0;
    for (int i = 0; i < 20; ++i) static_cast<void>(ex.submit([&] { ++ran; }));
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        ex.shutdown();
        EXPECT_EQ(ran, 20);
      });
    }
  }
}

// The loop that reads the map shuts its executor down: what was started comes out, then the reason.
TEST(Shutdown, InsideALoopOverAMapEndsTheLoop) {
  const weft::test::watchdog guard(60s);
  for (const unsigned workers : {1U, 2U}) {
    weft::executor ex({.max_workers = workers, .sizing = fixed});
    int last = -1;
    bool in_order = true;
    std::string end = "the end";
    try {
      for (auto&& r : ex.map([](int i) { return i; }, std::views::iota(0, 100'000))) {
        in_order = in_order && r == last + 1;
        last = r;
        if (r == 10) ex.shutdown();
      }
    } catch (const std::logic_error& e) {
      end = e.what();
    }
    EXPECT_TRUE(in_order);
    EXPECT_GE(last, 10);
    EXPECT_LT(last, 99'999);
    EXPECT_THAT(end, testing::HasSubstr("shut")) << workers;
  }
}

TEST(Shutdown, LetsTheTasksThatRunSubmitMore) {
  const weft::test::watchdog guard(60s);
  for (const unsigned workers : {1U, 2U}) {
    std::atomic<int> done = 0;
    {
      weft::executor ex({.max_workers = workers, .sizing = fixed});
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(ex.submit([&] {
          ex.submit([&] { ++done; }).get();
          for (auto&& r : ex.map([](int x) { return x; }, std::views::iota(0, 5))) {
            static_cast<void>(r);
          }
        }));
      }
    }
    EXPECT_EQ(done, 20);
  }
}

TEST(Shutdown, ReturnsWhenTheArgumentsOfTasksAreGone) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 2});
  for (int round = 0; round < weft::test::rounds(500); ++round) {
    const auto argument = std::make_shared<int>(0);
    weft::executor ex(pool);
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(ex.submit([](const std::shared_ptr<int>&) {}, argument));
    }
    ex.shutdown();
    ASSERT_EQ(argument.use_count(), 1);
  }
}

TEST(BorrowedPool, IsWaitedForByItsOwnJobs) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 2});
  for (int round = 0; round < weft::test::rounds(200); ++round) {
    pool.submit([&] {
          std::atomic<int> ran = 0;
          {
            weft::executor ex(pool);
            for (int i = 0; i < 50; ++i) static_cast<void>(ex.submit([&] { ++ran; }));
          }
          EXPECT_EQ(ran, 50);
        })
        .get();
  }
}

TEST(BorrowedPool, WithABoundedQueueLendsTheConsumer) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 1, .max_pending = 2, .overflow = weft::when_full::reject});
  weft::executor ex(pool);
  int next = 0;
  for (auto&& r : ex.map([](int i) { return i; }, std::views::iota(0, 500), {.chunk = 1})) {
    ASSERT_EQ(r, next++);
  }
  EXPECT_EQ(next, 500);
}

TEST(Destruction, WaitsForTasksThatStillRun) {
  const weft::test::watchdog guard(60s);
  std::atomic<int> ran = 0;
  {
    weft::executor ex({.max_workers = 4, .sizing = fixed});
    for (int i = 0; i < 200; ++i) static_cast<void>(ex.submit([&] { ++ran; }));
    ex.shutdown({.wait = false});
  }
  EXPECT_EQ(ran, 200);
}

TEST(Destruction, OfTheExecutorBeforeItsMapIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::optional<weft::executor> ex(std::in_place, weft::executor_options{.max_workers = 1});
        auto map = ex->map([](int i) { return i; }, std::views::iota(0, 3));
        map.begin();
        ex.reset();
      },
      "let the executor live longer");
}

TEST(Futures, OutliveTheExecutor) {
  std::optional<weft::executor> ex(std::in_place,
                                   weft::executor_options{.max_workers = 2, .sizing = fixed});
  auto f = ex->submit([] { return std::string("still here"); });
  ex.reset();
  EXPECT_EQ(f.get(), "still here");
}

int in_child(const std::function<bool()>& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, AChildGetsAnErrorAndMayDestroyTheExecutor) {
  const weft::test::watchdog guard(60s);
  auto ex =
      std::make_unique<weft::executor>(weft::executor_options{.max_workers = 2, .sizing = fixed});
  std::latch release(1);
  auto busy = ex->submit([&] { release.wait(); });
  EXPECT_EQ(in_child([&] {
              bool refused = false;
              try {
                static_cast<void>(ex->submit([] {}));
              } catch (const weft::used_after_fork&) {
                refused = true;
              }
              ex->shutdown();
              ex.reset();
              return refused;
            }),
            0);
  release.count_down();
  busy.get();
  EXPECT_EQ(ex->submit([] { return 1; }).get(), 1);
}

TEST(Fork, AChildMayLeaveTheLoopItIsIn) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  pid_t child = -1;
  for (auto&& r : ex.map([](int i) { return i; }, std::views::iota(0, 1000))) {
    if (r != 10) continue;
    child = ::fork();
    break;
  }
  if (child == 0) ::_exit(0);  // having destroyed the map
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Fork, AChildThatGoesOnWithALoopGetsAnError) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  pid_t child = -1;
  bool refused = false;
  try {
    for (auto&& r : ex.map([](int i) { return i; }, std::views::iota(0, 1000))) {
      if (r == 10) child = ::fork();
    }
  } catch (const weft::used_after_fork&) {
    refused = true;
  }
  if (child == 0) ::_exit(refused ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(refused);
}

TEST(Nesting, TasksSubmitAndWaitInsideTasks) {
  const weft::test::watchdog guard(60s);
  for (const unsigned workers : {1U, 2U, 4U}) {
    weft::executor ex({.max_workers = workers, .sizing = fixed});
    const std::function<int(int)> count = [&](int depth) {
      if (depth == 0) return 1;
      auto left = ex.submit(count, depth - 1);
      auto right = ex.submit(count, depth - 1);
      return left.get() + right.get();
    };
    EXPECT_EQ(ex.submit(count, 6).get(), 64);
  }
}

// With one worker a task runs where it is submitted, also in other threads, whatever it waits for.
TEST(Nesting, OneWorkerAllowsTasksThatTasksWaitFor) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 1});
  const auto through_a_thread = [&] {
    int answer = 0;
    std::jthread([&] { answer = ex.submit([] { return 5; }).get(); }).join();
    return answer;
  };
  EXPECT_EQ(ex.submit(through_a_thread).get(), 5);
}

TEST(Nesting, ExecutorsCallEachOther) {
  const weft::test::watchdog guard(60s);
  for (const unsigned workers : {1U, 2U}) {
    weft::executor a({.max_workers = workers, .sizing = fixed});
    weft::executor b({.max_workers = workers, .sizing = fixed});
    const auto f = [&](int i) {
      int sum = 0;
      for (auto&& r : b.map([&](int j) { return a.submit([=] { return i * j; }).get(); },
                            std::views::iota(0, 5))) {
        sum += r;
      }
      return sum;
    };
    std::vector<int> sums;
    for (auto&& s : a.map(f, std::views::iota(0, 4))) sums.push_back(s);
    EXPECT_THAT(sums, ElementsAre(0, 10, 20, 30));
  }
}

TEST(Leaving, ALoopRunsNoItemAfterIt) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 4, .sizing = fixed});
  for (int round = 0; round < weft::test::rounds(200); ++round) {
    std::atomic<bool> left = false;
    std::atomic<int> late = 0;
    const auto f = [&](int i) {
      if (left) ++late;
      return i;
    };
    for (auto&& r : ex.map(f, std::views::iota(0, 1000))) {
      if (r == 5) break;
    }
    left = true;
    ASSERT_EQ(late, 0);
  }
}

TEST(Leaving, DestroysItemsAndResultsThatNobodyTook) {
  const weft::test::watchdog guard(60s);
  const auto alive = std::make_shared<int>(0);
  {
    weft::executor ex({.max_workers = 3, .sizing = fixed});
    auto input = std::views::iota(0, 500) |
                 std::views::transform([&](int i) { return std::pair(alive, i); });
    for (auto&& r : ex.map([](std::pair<std::shared_ptr<int>, int> p) { return p; }, input)) {
      if (r.second == 20) break;
    }
    EXPECT_EQ(alive.use_count(), 1);
  }
}

TEST(SlowInput, DoesNotKeepBackAResultThatIsThere) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::atomic<int> ran = 0;
  int consumed = 0;
  int consumed_at_20 = -1;
  // Gives an item once those before it have run, and takes its time: there is always a result.
  const auto read = [&](int i) {
    while (ran < i) std::this_thread::yield();
    const auto until = std::chrono::steady_clock::now() + 1ms;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    if (i == 20) consumed_at_20 = consumed;
    return i;
  };
  const auto f = [&](int i) {
    ++ran;
    return i;
  };
  for (auto&& r : ex.map(f, std::views::iota(0, 25) | std::views::transform(read))) {
    EXPECT_EQ(r, consumed++);
  }
  EXPECT_GT(consumed_at_20, 0);  // 32 items could be read before the first result is given out
}

TEST(ResultThatThrowsWhenMoved, IsAnErrorOfItsItem) {
  struct touchy {
    explicit touchy(int i) : value(i) {}
    touchy(const touchy& other) : value(other.value) {
      if (value == 3) throw std::runtime_error("copy of three");
    }
    int value;
  };
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::vector<int> seen;
  const auto f = [](int i) {
    const touchy t(i);
    return touchy(t);
  };
  try {
    for (auto&& r : ex.map(f, std::views::iota(0, 10))) seen.push_back(r.value);
    ADD_FAILURE();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "copy of three");
  }
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
}

}  // namespace
