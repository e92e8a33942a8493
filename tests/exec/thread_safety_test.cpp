// Many threads use one executor at once. Most telling under the thread sanitizer.

#include <weft/exec/completion.hpp>
#include <weft/exec/executor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace {

using namespace std::chrono_literals;

constexpr int threads = 8;

template <class F>
void on_threads(F f) {
  std::latch together(threads);
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      together.arrive_and_wait();
      f(t);
    });
  }
}

TEST(ManyThreads, SubmitMapAskAndShutDownAtOnce) {
  const weft::test::watchdog guard(300s);
  for (int round = 0; round < weft::test::rounds(100); ++round) {
    weft::executor ex({.max_workers = 4, .monitor_interval = 1ms, .scale_check_interval = 1ms});
    std::atomic<int> submitted = 0;
    std::atomic<int> ran = 0;
    on_threads([&](int t) {
      try {
        for (int i = 0; i < 100; ++i) {
          switch ((t + i) % 4) {
            case 0: {
              auto f = ex.submit([&] { return ++ran; });
              ++submitted;
              if (i % 3 == 0) f.get();
              break;
            }
            case 1: {
              int next = 0;
              for (auto&& r : ex.map([](int x) { return x; }, std::views::iota(0, 20))) {
                EXPECT_EQ(r, next++);
                if (i % 5 == 0 && r == 10) break;
              }
              break;
            }
            case 2:
              EXPECT_LE(ex.current_workers(), ex.max_workers());
              EXPECT_FALSE(ex.explain().empty());
              break;
            default:
              static_cast<void>(ex.events());
              static_cast<void>(ex.stats());
          }
          if (t == 7 && i == 60) ex.shutdown();
        }
      } catch (const weft::executor_stopped&) {
        // Expected from the moment of the shutdown on, also from a map that is under way.
      }
    });
    ex.shutdown();
    EXPECT_EQ(ran, submitted);
  }
}

TEST(ManyThreads, EachMapKeepsItsOrder) {
  const weft::test::watchdog guard(120s);
  weft::executor ex({.max_workers = 4, .sizing = weft::sizing_policy::fixed});
  on_threads([&](int t) {
    for (int round = 0; round < weft::test::rounds(40); ++round) {
      int next = t;
      for (auto&& r : ex.map([](int x) { return x; }, std::views::iota(t, t + 200))) {
        ASSERT_EQ(r, next++);
      }
      ASSERT_EQ(next, t + 200);
    }
  });
}

TEST(ManyThreads, OneFailureIsTheFirstForAll) {
  const weft::test::watchdog guard(120s);
  for (int round = 0; round < weft::test::rounds(100); ++round) {
    weft::executor ex({.max_workers = 4, .sizing = weft::sizing_policy::fixed});
    std::mutex mutex;
    std::vector<std::string> refusals;
    on_threads([&](int t) {
      for (int i = 0; i < 50; ++i) {
        try {
          static_cast<void>(ex.submit([=] {
            if (i == 20) throw std::runtime_error("thread " + std::to_string(t));
          }));
        } catch (const weft::executor_failed& e) {
          const std::lock_guard lock(mutex);
          refusals.emplace_back(e.what());
          return;
        }
      }
    });
    ex.shutdown();
    for (const auto& r : refusals) EXPECT_EQ(r, refusals.front());
    EXPECT_THROW(static_cast<void>(ex.submit([] {})), weft::executor_stopped);
  }
}

TEST(ManyThreads, WaitForTheirFuturesInAnyOrder) {
  const weft::test::watchdog guard(120s);
  weft::executor ex({.max_workers = 4, .sizing = weft::sizing_policy::fixed});
  on_threads([&](int t) {
    for (int round = 0; round < weft::test::rounds(60); ++round) {
      std::vector<weft::future<int>> futures;
      for (int i = 0; i < 30; ++i) futures.push_back(ex.submit([=] { return t * 100 + i; }));
      static_cast<void>(weft::wait(futures, weft::return_when::first_completed));
      int sum = 0;
      for (auto f : weft::as_completed(std::move(futures))) sum += f.get();
      ASSERT_EQ(sum, 30 * t * 100 + 435);
    }
  });
}

TEST(ManyThreads, ResizingLosesNothing) {
  const weft::test::watchdog guard(120s);
  // A policy that changes its mind all the time, because the windows are too short to tell.
  weft::executor ex({.max_workers = 8, .monitor_interval = 100us, .scale_check_interval = 100us});
  on_threads([&](int) {
    for (int round = 0; round < weft::test::rounds(20); ++round) {
      int next = 0;
      const auto f = [](int x) {
        if (x % 50 == 0) std::this_thread::yield();
        return x;
      };
      for (auto&& r : ex.map(f, std::views::iota(0, 500))) ASSERT_EQ(r, next++);
      ASSERT_EQ(next, 500);
    }
  });
}

}  // namespace
