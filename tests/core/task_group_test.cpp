#include <weft/core/task_group.hpp>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class TaskGroup : public ::testing::Test {
 protected:
  pool p{{.workers = 2}};
  test::watchdog guard{30s, p};
};

TEST_F(TaskGroup, EmptyOneIsDone) {
  task_group g(p);
  g.wait();
  g.wait();
}

TEST_F(TaskGroup, WaitsForEveryJob) {
  for (int i = 0; i < test::rounds(2000); ++i) {
    int plain[20] = {};
    task_group g(p);
    for (int& x : plain) g.spawn([&x] { x = 1; });
    g.wait();
    for (const int x : plain) ASSERT_EQ(x, 1);
  }
}

TEST_F(TaskGroup, WaitsForEveryJobInsideThePool) {
  p.run([&] {
    for (int i = 0; i < test::rounds(2000); ++i) {
      int plain[20] = {};
      task_group g;
      for (int& x : plain) g.spawn([&x] { x = 1; });
      g.wait();
      for (const int x : plain) ASSERT_EQ(x, 1);
    }
  });
}

TEST_F(TaskGroup, UsesThePoolItIsMadeIn) {
  p.run([&] {
    task_group g;
    g.spawn([&] { EXPECT_EQ(pool::current(), &p); });
    g.wait();
  });
}

TEST_F(TaskGroup, UsesTheGlobalPoolOutsideOfAny) {
  task_group g;
  g.spawn([] { EXPECT_EQ(pool::current(), &pool::global()); });
  g.wait();
}

// The later job throws first, and the earlier one still wins.
TEST_F(TaskGroup, FirstErrorByOrderOfSpawningWins) {
  for (int i = 0; i < test::rounds(1000); ++i) {
    task_group g(p);
    std::latch later_threw(1);
    g.spawn([] {});
    g.spawn([&] {
      later_threw.wait();
      throw std::runtime_error("earlier");
    });
    g.spawn([&] {
      later_threw.count_down();
      throw std::runtime_error("later");
    });
    try {
      g.wait();
      FAIL();
    } catch (const std::runtime_error& e) {
      ASSERT_STREQ(e.what(), "earlier");
    }
  }
}

TEST_F(TaskGroup, FinishesEveryJobAlthoughOneThrows) {
  std::atomic<int> ran{0};
  task_group g(p);
  for (int i = 0; i < 100; ++i) {
    g.spawn([&, i] {
      ++ran;
      if (i == 0) throw std::runtime_error("first");
    });
  }
  EXPECT_THROW(g.wait(), std::runtime_error);
  EXPECT_EQ(ran, 100);
}

TEST_F(TaskGroup, CanBeUsedAgainAfterAWait) {
  task_group g(p);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    g.spawn([&] { ++ran; });
    g.wait();
    ASSERT_EQ(ran, i + 1);
  }
}

TEST_F(TaskGroup, ForgetsTheErrorItHasReported) {
  task_group g(p);
  g.spawn([] { throw std::runtime_error("once"); });
  EXPECT_THROW(g.wait(), std::runtime_error);
  g.spawn([] {});
  EXPECT_NO_THROW(g.wait());
}

TEST_F(TaskGroup, DestructorWaits) {
  for (int i = 0; i < test::rounds(2000); ++i) {
    int plain = 0;
    {
      task_group g(p);
      g.spawn([&] { plain = 1; });
    }
    ASSERT_EQ(plain, 1);
  }
}

TEST_F(TaskGroup, DestructorDropsTheError) {
  task_group g(p);
  g.spawn([] { throw std::runtime_error("nobody asks"); });
}

TEST_F(TaskGroup, JobsMaySpawnIntoTheirGroup) {
  std::atomic<int> ran{0};
  task_group g(p);
  auto tree = [&](auto& self, int depth) -> void {
    ++ran;
    if (depth == 0) return;
    for (int i = 0; i < 2; ++i) g.spawn([&self, depth] { self(self, depth - 1); });
  };
  g.spawn([&] { tree(tree, 12); });
  g.wait();
  EXPECT_EQ(ran, 8191);
}

int count_nested(int depth) {
  if (depth == 0) return 1;
  std::atomic<int> sum{0};
  task_group g;
  for (int i = 0; i < 3; ++i) g.spawn([&] { sum += count_nested(depth - 1); });
  g.wait();
  return sum;
}

TEST_F(TaskGroup, GroupsNest) {
  EXPECT_EQ(p.run([] { return count_nested(7); }), 2187);
  pool one({.workers = 1});
  EXPECT_EQ(one.run([] { return count_nested(7); }), 2187);
}

TEST_F(TaskGroup, StopDropsWhatHasNotStarted) {
  pool one({.workers = 1});
  std::latch inside(1);
  std::latch out(1);
  one.spawn([&] {
    inside.count_down();
    out.wait();
  });
  inside.wait();
  std::atomic<int> ran{0};
  task_group g(one);
  for (int i = 0; i < 10; ++i) g.spawn([&] { ++ran; });
  g.request_stop();
  EXPECT_TRUE(g.stop_token().stop_requested());
  out.count_down();
  EXPECT_THROW(g.wait(), cancelled);
  EXPECT_EQ(ran, 0);
}

TEST_F(TaskGroup, StopReachesJobsThatRun) {
  task_group g(p);
  std::latch inside(1);
  g.spawn([&](const std::stop_token& stop) {
    std::latch stopped(1);
    const std::stop_callback tell(stop, [&] { stopped.count_down(); });
    inside.count_down();
    stopped.wait();
  });
  inside.wait();
  g.request_stop();
  EXPECT_NO_THROW(g.wait());
}

TEST_F(TaskGroup, CancelledPoolTellsTheGroup) {
  pool one({.workers = 1});
  std::latch inside(1);
  one.spawn([&](const std::stop_token& stop) {
    std::latch stopped(1);
    const std::stop_callback tell(stop, [&] { stopped.count_down(); });
    inside.count_down();
    stopped.wait();
  });
  inside.wait();
  std::atomic<int> ran{0};
  task_group g(one);
  for (int i = 0; i < 10; ++i) g.spawn([&] { ++ran; });
  one.shutdown(shutdown_mode::cancel);
  EXPECT_THROW(g.wait(), cancelled);
  EXPECT_EQ(ran, 0);
}

// Either this thread runs the outer job. Or one worker does, and the seat of the other is lent to
// this thread by wait(), so that nobody else can run the inner job.
TEST_F(TaskGroup, OutsideWaitLendsTheThread) {
  task_group g(p);
  const auto here = std::this_thread::get_id();
  std::thread::id where;
  g.spawn([&] {
    where = std::this_thread::get_id();
    if (where == here) return;
    const auto working = [&] {
      std::size_t n = 0;
      for (const worker_stats& w : p.stats().per_worker) n += w.activity != worker_activity::asleep;
      return n;
    };
    while (working() < 2) std::this_thread::yield();
    std::latch ran(1);
    g.spawn([&] {
      where = std::this_thread::get_id();
      ran.count_down();
    });
    ran.wait();
  });
  g.wait();
  EXPECT_EQ(where, here);
}

TEST_F(TaskGroup, OfAnotherPoolCanBeAwaitedInAJob) {
  pool q({.workers = 1});
  for (int i = 0; i < test::rounds(5000); ++i) {
    int plain = 0;
    q.run([&] {
      task_group g(p);
      g.spawn([&] { plain = 1; });
      g.wait();
    });
    ASSERT_EQ(plain, 1);
  }
}

TEST_F(TaskGroup, ManyThreadsUseGroupsOfOnePool) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < test::rounds(2000); ++i) {
        std::atomic<int> ran{0};
        task_group g(p);
        for (int k = 0; k < 8; ++k) g.spawn([&] { ++ran; });
        g.wait();
        ASSERT_EQ(ran, 8);
      }
    });
  }
}

TEST(TaskGroupStop, EndsWithTheWaitSoThatTheGroupCanBeUsedAgain) {
  pool p({.workers = 2});
  task_group g(p);
  g.request_stop();
  g.spawn([] {});
  EXPECT_THROW(g.wait(), cancelled);
  bool ran = false;
  g.spawn([&] { ran = true; });
  g.wait();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace weft
