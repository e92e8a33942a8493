#include <weft/core/pool.hpp>

#include <atomic>
#include <latch>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class Shutdown : public ::testing::Test {
 protected:
  // Lets go of the worker when the pool is asked to stop, and not before.
  void hold_until_stop_is_requested() {
    std::latch inside(1);
    p.spawn([&](const std::stop_token& stop) {
      std::latch stopped(1);
      const std::stop_callback tell(stop, [&] { stopped.count_down(); });
      inside.count_down();
      stopped.wait();
    });
    inside.wait();
  }

  pool p{{.workers = 1}};
  // Thousands of rounds with new threads take a second, and far longer on a machine that is busy.
  test::watchdog guard{100s, p};
};

TEST_F(Shutdown, DrainRunsEverythingThatWasSubmitted) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) p.spawn([&] { ++ran; });
  p.shutdown();
  EXPECT_EQ(ran, 1000);
}

TEST_F(Shutdown, DrainRunsWhatJobsSpawn) {
  std::atomic<int> ran{0};
  auto tree = [&](auto& self, int depth) -> void {
    ++ran;
    if (depth == 0) return;
    for (int i = 0; i < 2; ++i) p.spawn([&self, depth] { self(self, depth - 1); });
  };
  p.spawn([&] { tree(tree, 9); });
  p.shutdown();
  EXPECT_EQ(ran, 1023);
}

TEST_F(Shutdown, DestructorDrains) {
  std::atomic<int> ran{0};
  {
    pool q({.workers = 2});
    for (int i = 0; i < 1000; ++i) q.spawn([&] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST_F(Shutdown, CancelDropsWhatHasNotStarted) {
  hold_until_stop_is_requested();
  std::atomic<int> ran{0};
  auto tracked = std::make_shared<int>(0);
  for (int i = 0; i < 10; ++i) p.spawn([&ran, tracked] { ++ran; });
  auto f = p.submit([tracked] { return 1; });
  p.shutdown(shutdown_mode::cancel);
  EXPECT_EQ(ran, 0);
  EXPECT_THROW(f.get(), cancelled);
  EXPECT_EQ(tracked.use_count(), 1) << "dropped jobs are destroyed";
  EXPECT_EQ(p.stats().dropped, 11U);
}

TEST_F(Shutdown, CancelAsksRunningJobsToStop) {
  std::latch inside(1);
  auto f = p.submit([&](const std::stop_token& stop) {
    std::latch stopped(1);
    const std::stop_callback tell(stop, [&] { stopped.count_down(); });
    inside.count_down();
    stopped.wait();
    return 7;
  });
  inside.wait();
  EXPECT_FALSE(p.stop_token().stop_requested());
  p.shutdown(shutdown_mode::cancel);
  EXPECT_TRUE(p.stop_token().stop_requested());
  EXPECT_EQ(f.get(), 7) << "a job that had started keeps its result";
}

TEST_F(Shutdown, CancelLetsRunThatIsQueuedKnow) {
  hold_until_stop_is_requested();
  std::latch called(1);
  std::jthread caller([&] {
    called.count_down();
    // Either queued before the pool closed, and dropped, or refused.
    try {
      p.run([] {});
      ADD_FAILURE() << "the only worker was busy";
    } catch (const cancelled&) {
    } catch (const pool_stopped&) {
    }
  });
  called.wait();
  p.shutdown(shutdown_mode::cancel);
}

TEST_F(Shutdown, CancelFinishesJoinsThatHaveStarted) {
  pool q({.workers = 2});
  std::latch inside(1);
  std::atomic<int> sides{0};
  auto f = q.submit([&](const std::stop_token& stop) {
    inside.count_down();
    std::latch stopped(1);
    const std::stop_callback tell(stop, [&] { stopped.count_down(); });
    stopped.wait();
    join([&] { ++sides; }, [&] { ++sides; });
  });
  inside.wait();
  q.shutdown(shutdown_mode::cancel);
  f.get();
  EXPECT_EQ(sides, 2);
}

TEST_F(Shutdown, TwiceIsOnce) {
  p.shutdown();
  p.shutdown();
  p.shutdown(shutdown_mode::cancel);
}

TEST_F(Shutdown, FromManyThreadsAtOnceReturnsToAllWhenItIsOver) {
  for (int i = 0; i < test::rounds(500); ++i) {
    pool q({.workers = 2});
    std::atomic<int> ran{0};
    for (int k = 0; k < 20; ++k) q.spawn([&] { ++ran; });
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        q.shutdown();
        EXPECT_EQ(ran, 20);
      });
    }
  }
}

TEST_F(Shutdown, FromAJobOfThePoolIsAnError) {
  EXPECT_THROW(p.run([&] { p.shutdown(); }), std::logic_error);
  EXPECT_THROW(p.submit([&] { p.shutdown(); }).get(), std::logic_error);
  EXPECT_EQ(p.submit([] { return 1; }).get(), 1) << "nothing has changed";
}

TEST_F(Shutdown, FromAJobOfAnotherPoolIsFine) {
  pool q({.workers = 1});
  q.run([&] { p.shutdown(); });
  EXPECT_THROW(p.spawn([] {}), pool_stopped);
}

TEST_F(Shutdown, AfterwardsEverythingIsRefused) {
  p.shutdown();
  EXPECT_THROW(p.spawn([] {}), pool_stopped);
  EXPECT_THROW(auto f = p.submit([] {}), pool_stopped);
  EXPECT_THROW(p.run([] {}), pool_stopped);
  EXPECT_THROW(p.resize(1), pool_stopped);
  task_group g(p);
  EXPECT_THROW(g.spawn([] {}), pool_stopped);
  EXPECT_NO_THROW(g.wait());
  EXPECT_NO_THROW(static_cast<void>(p.stats()));
  EXPECT_NO_THROW(static_cast<void>(p.dump()));
}

TEST_F(Shutdown, RefusedJobIsDestroyed) {
  auto tracked = std::make_shared<int>(0);
  p.shutdown();
  EXPECT_THROW(p.spawn([tracked] {}), pool_stopped);
  EXPECT_THROW(auto f = p.submit([tracked] {}), pool_stopped);
  EXPECT_EQ(tracked.use_count(), 1);
}

// Every submission either succeeds and runs, or is refused.
TEST_F(Shutdown, RacesWithSubmissionsButLosesNone) {
  for (int i = 0; i < test::rounds(2000); ++i) {
    pool q({.workers = 2});
    std::atomic<int> accepted{0};
    std::atomic<int> ran{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        try {
          for (;;) {
            if (t == 0) {
              q.spawn([&] { ++ran; });
            } else {
              q.run([&] { ++ran; });
            }
            ++accepted;
          }
        } catch (const pool_stopped&) {
        }
      });
    }
    q.shutdown();
    threads.clear();
    ASSERT_EQ(accepted, ran);
  }
}

TEST_F(Shutdown, WaitsForAJobThatResizesThePool) {
  for (int i = 0; i < test::rounds(500); ++i) {
    pool q({.workers = 2, .max_workers = 4});
    std::latch inside(1);
    q.spawn([&] {
      inside.count_down();
      try {
        for (;;) q.resize(2);
      } catch (const pool_stopped&) {
      }
    });
    inside.wait();
    q.shutdown();
  }
}

TEST(ShutdownDeathTest, DestroyingAPoolFromItsOwnJobAbortsWithAMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto p = std::make_unique<pool>(pool_options{.workers = 1});
        p->spawn([&] { p.reset(); });
        std::latch never(1);
        never.wait();
      },
      "destroyed by one of its own jobs");
}

TEST_F(Shutdown, AgainstRunsOnOtherThreadsEndsAndRefusesThem) {
  for (int round = 0; round < test::rounds(5000); ++round) {
    pool q({.workers = 2});
    std::atomic<int> spawned{0};
    std::atomic<int> ran{0};
    std::vector<std::jthread> guests;
    std::latch ready(3);
    for (int t = 0; t < 2; ++t) {
      guests.emplace_back([&] {
        ready.arrive_and_wait();
        try {
          q.run([&] {
            q.spawn([&] { ++ran; });
            ++spawned;
          });
        } catch (const pool_stopped&) {  // came too late
        }
      });
    }
    ready.arrive_and_wait();
    q.shutdown();
    guests.clear();
    EXPECT_EQ(ran, spawned);
  }
}

}  // namespace
}  // namespace weft
