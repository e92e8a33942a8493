// What happens when something fails: a task, an item, an option, the time.

#include <weft/exec/executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <latch>
#include <limits>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto fixed = weft::sizing_policy::fixed;

template <class Error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

class FailFast : public testing::TestWithParam<unsigned> {
 protected:
  weft::test::watchdog guard{60s};
  weft::executor ex{{.max_workers = GetParam(), .sizing = fixed}};
};
INSTANTIATE_TEST_SUITE_P(Workers, FailFast, testing::Values(1, 2));

TEST_P(FailFast, TheFutureHasTheException) {
  auto f = ex.submit([]() -> int { throw std::out_of_range("no such row"); });
  EXPECT_EQ(message_of<std::out_of_range>([&] { f.get(); }), "no such row");
}

TEST_P(FailFast, SubmissionsAfterAFailureAreRefusedAndNameIt) {
  auto f = ex.submit([] { throw std::runtime_error("disk on fire"); });
  EXPECT_THROW(f.get(), std::runtime_error);
  EXPECT_THAT(message_of<weft::executor_failed>([&] { static_cast<void>(ex.submit([] {})); }),
              HasSubstr("disk on fire"));
  EXPECT_THAT(message_of<weft::executor_failed>([&] {
                for (auto&& r : ex.map(std::negate<>{}, std::views::iota(0, 3))) {
                  static_cast<void>(r);
                }
              }),
              HasSubstr("disk on fire"));
  EXPECT_THAT(ex.explain(), HasSubstr("disk on fire"));
}

TEST_P(FailFast, AnExceptionThatIsNoStdExceptionCountsToo) {
  auto f = ex.submit([] { throw 42; });
  EXPECT_THROW(f.get(), int);
  EXPECT_THROW(static_cast<void>(ex.submit([] {})), weft::executor_failed);
}

TEST_P(FailFast, AFailureWithoutATextIsAFailure) {
  auto f = ex.submit([] { throw std::runtime_error(""); });
  EXPECT_THROW(f.get(), std::runtime_error);
  EXPECT_THROW(static_cast<void>(ex.submit([] {})), weft::executor_failed);
  EXPECT_THAT(ex.explain(), HasSubstr("stopped by a failure"));
}

TEST_P(FailFast, ATaskThatStopsBecauseItWasAskedToHasNotFailed) {
  auto f = ex.submit([] { throw weft::cancelled(); });
  EXPECT_THROW(f.get(), weft::cancelled);
  EXPECT_EQ(ex.submit([] { return 1; }).get(), 1);
}

TEST(FailFastOnThreads, WhatIsQueuedIsCancelled) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 1});
  weft::executor ex(pool);
  std::latch queued(1);
  auto failing = ex.submit([&] {
    queued.wait();
    throw std::runtime_error("first");
  });
  bool ran = false;
  auto later = ex.submit([&] { ran = true; });
  queued.count_down();
  EXPECT_THROW(later.get(), weft::cancelled);
  EXPECT_THROW(failing.get(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(FailFastOnThreads, AMapThatIsUnderWayEndsWithTheReason) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 1});
  weft::executor ex(pool);
  const auto run = [&] {
    for (auto&& r : ex.map(std::negate<>{}, std::views::iota(0, 1000), {.look_ahead = 2})) {
      if (r == -3) ex.submit([] { throw std::runtime_error("elsewhere"); }).wait();
    }
  };
  EXPECT_THAT(message_of<weft::executor_failed>(run), HasSubstr("elsewhere"));
}

TEST(FailFastOnThreads, RunningTasksAreToldByTheirToken) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::latch begun(1);  // one that has not begun is cancelled
  auto running = ex.submit([&](const std::stop_token& stop) {
    begun.count_down();
    while (!stop.stop_requested()) std::this_thread::yield();
    return 7;
  });
  begun.wait();
  auto failing = ex.submit([] { throw std::runtime_error("enough"); });
  EXPECT_EQ(running.get(), 7);
  EXPECT_THROW(failing.get(), std::runtime_error);
}

TEST(KeepGoing, OtherTasksRunAfterAFailure) {
  weft::executor ex({.max_workers = 2, .sizing = fixed, .on_error = weft::on_error::keep_going});
  auto bad = ex.submit([] { throw std::runtime_error("one"); });
  auto good = ex.submit([] { return 5; });
  EXPECT_THROW(bad.get(), std::runtime_error);
  EXPECT_EQ(good.get(), 5);
  EXPECT_EQ(ex.submit([] { return 6; }).get(), 6);
}

TEST(MapFailure, EndsTheMapAndNotTheExecutor) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  const auto f = [](int i) {
    if (i == 7) throw std::invalid_argument("seven");
    return i;
  };
  std::vector<int> seen;
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              for (auto&& r : ex.map(f, std::views::iota(0, 100))) seen.push_back(r);
            }),
            "seven");
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(ex.submit([] { return 1; }).get(), 1);
}

TEST(MapFailure, NoItemAfterItBegins) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 1});  // takes what was queued in its order
  weft::executor ex(pool);
  std::vector<int> begun;
  const auto f = [&](int i) {
    begun.push_back(i);
    if (i == 2) throw std::runtime_error("two");
  };
  const auto run = [&] {
    for (auto&& r : ex.map(f, std::views::iota(0, 100), {.chunk = 1, .look_ahead = 50})) {
      static_cast<void>(r);
    }
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_THAT(begun, ElementsAre(0, 1, 2));
}

// The one that fails first by the clock is not the one a loop would meet.
TEST(MapFailure, AnEarlierItemThatFailsLaterWins) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::latch later_failed(1);
  const auto f = [&](int i) {
    if (i == 3) {
      later_failed.wait();
      throw std::runtime_error("three");
    }
    if (i == 5) {
      later_failed.count_down();
      throw std::runtime_error("five");
    }
    return i;
  };
  std::vector<int> seen;
  EXPECT_EQ(message_of<std::runtime_error>([&] {
              for (auto&& r : ex.map(f, std::views::iota(0, 50), {.chunk = 1})) seen.push_back(r);
            }),
            "three");
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
}

TEST(MapTimeout, IsAnErrorAtTheResultThatIsNotThere) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  const auto f = [](const std::stop_token& stop, int i) {
    while (i == 2 && !stop.stop_requested()) std::this_thread::yield();
    return i;
  };
  std::vector<int> seen;
  const std::string message = message_of<weft::timed_out>([&] {
    for (auto&& r : ex.map(f, std::views::iota(0, 50), {.timeout = 200ms, .chunk = 1})) {
      seen.push_back(r);
    }
  });
  EXPECT_THAT(message, HasSubstr("result 2 "));
  EXPECT_THAT(message, HasSubstr("0.2"));
  EXPECT_THAT(seen, ElementsAre(0, 1));
}

// Both workers are busy until the loop has ended: what has not begun is dropped, not waited for.
TEST(MapTimeout, DoesNotWaitForWhatHasNotBegun) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  std::latch begun(2);
  std::latch release(1);
  const auto busy = [&] {
    begun.count_down();
    release.wait();
  };
  auto a = ex.submit(busy);
  auto b = ex.submit(busy);
  begun.wait();
  const auto ordered = [&] {
    for (auto&& r : ex.map(std::negate<>{}, std::views::iota(0, 9), {.timeout = 1ms})) {
      static_cast<void>(r);
    }
  };
  const auto unordered = [&] {
    for (auto&& r : ex.map_unordered(std::negate<>{}, std::views::iota(0, 9), {.timeout = 1ms})) {
      static_cast<void>(r);
    }
  };
  EXPECT_THROW(ordered(), weft::timed_out);
  EXPECT_THROW(unordered(), weft::timed_out);
  release.count_down();
  a.get();
  b.get();
}

TEST(MapTimeout, EndsTheReadingOfASlowInput) {
  const weft::test::watchdog guard(60s);
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  int read = 0;
  const auto slow = std::views::iota(0, 30) | std::views::transform([&](int i) {
                      ++read;
                      const auto until = std::chrono::steady_clock::now() + 30ms;
                      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
                      return i;
                    });
  std::latch never_ready(1);
  const auto f = [&](int i) {
    never_ready.wait();
    return i;
  };
  const auto run = [&] {
    for (auto&& r : ex.map(f, slow, {.timeout = 50ms})) static_cast<void>(r);
  };
  std::jthread later([&] {
    // Running items are waited for, so somebody has to let them go.
    const auto until = std::chrono::steady_clock::now() + 200ms;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    never_ready.count_down();
  });
  EXPECT_THROW(run(), weft::timed_out);
  EXPECT_LT(read, 30);
}

TEST(MapTimeout, HoldsForAConsumerThatDoesTheWorkItself) {
  const weft::test::watchdog guard(60s);
  weft::pool pool({.workers = 1});
  weft::executor ex(pool);
  const auto f = [](int i) {
    const auto until = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return i;
  };
  int results = 0;
  EXPECT_THROW(pool.submit([&] {
                     for (auto&& r : ex.map(f, std::views::iota(0, 100), {.timeout = 60ms})) {
                       static_cast<void>(r);
                       ++results;
                     }
                   })
                   .get(),
               weft::timed_out);
  EXPECT_LT(results, 100);
}

TEST(MapTimeout, OfZeroLetsNothingBegin) {
  weft::executor ex({.max_workers = 1});
  bool ran = false;
  const auto run = [&] {
    for (auto&& r : ex.map([&](int) { ran = true; }, std::views::iota(0, 3), {.timeout = 0s})) {
      static_cast<void>(r);
    }
  };
  EXPECT_THROW(run(), weft::timed_out);
  EXPECT_FALSE(ran);
}

// -- bad input ------------------------------------------------------------------------------------

struct bad_options {
  weft::executor_options options;
  std::string field;
};
class BadExecutorOptions : public testing::TestWithParam<bad_options> {};
TEST_P(BadExecutorOptions, AreRefusedByName) {
  const auto make = [&] { const weft::executor ex(GetParam().options); };
  const std::string message = message_of<std::invalid_argument>(make);
  EXPECT_THAT(message, HasSubstr("executor_options::" + GetParam().field + " "));
  EXPECT_THAT(message, HasSubstr("give "));
}
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
INSTANTIATE_TEST_SUITE_P(
    Each, BadExecutorOptions,
    testing::Values(bad_options{{.cpu_threshold = -1}, "cpu_threshold"},
                    bad_options{{.cpu_threshold = 100.5}, "cpu_threshold"},
                    bad_options{{.cpu_threshold = nan_value}, "cpu_threshold"},
                    bad_options{{.memory_threshold = 101}, "memory_threshold"},
                    bad_options{{.gpu_memory_threshold = nan_value}, "gpu_memory_threshold"},
                    bad_options{{.max_workers = 2, .min_workers = 3}, "min_workers"},
                    bad_options{{.min_workers = 0}, "min_workers"},
                    bad_options{{.max_workers = 100'000}, "max_workers"},
                    bad_options{{.monitor_interval = -1s}, "monitor_interval"},
                    bad_options{{.scale_check_interval = 1ns}, "scale_check_interval"}));

TEST(BadMapOptions, AreRefusedByNameBeforeAnythingIsRead) {
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  const auto map = [&](const weft::map_options& options) {
    return message_of<std::invalid_argument>(
        [&] { static_cast<void>(ex.map(std::negate<>{}, std::views::iota(0, 3), options)); });
  };
  EXPECT_THAT(map({.look_ahead = 0}), HasSubstr("map_options::look_ahead"));
  EXPECT_THAT(map({.chunk = 0}), HasSubstr("map_options::chunk"));
  EXPECT_THAT(map({.timeout = -1ns}), HasSubstr("map_options::timeout"));
}

TEST(BadCallables, AreRefusedWhereTheyAreGiven) {
  weft::executor ex({.max_workers = 2, .sizing = fixed});
  const std::function<int(int)> empty;
  EXPECT_THROW(static_cast<void>(ex.submit(empty, 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(ex.map(empty, std::views::iota(0, 3))), std::invalid_argument);
  EXPECT_EQ(ex.submit([] { return 1; }).get(), 1);
}

}  // namespace
