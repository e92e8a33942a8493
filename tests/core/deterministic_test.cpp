#include <algorithm>
#include <atomic>
#include <cstdint>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class Deterministic : public ::testing::Test {
 protected:
  test::watchdog guard{30s};
};

pool_options seeded(std::uint64_t seed) { return {.deterministic_seed = seed}; }

// The order in which eight jobs of a group ran.
std::string order_of_jobs(std::uint64_t seed) {
  pool p(seeded(seed));
  std::string order;
  p.run([&] {
    task_group g;
    for (char c = 'a'; c <= 'h'; ++c) g.spawn([&order, c] { order += c; });
    g.wait();
  });
  return order;
}

std::string order_of_joins(std::uint64_t seed) {
  pool p(seeded(seed));
  std::string order;
  p.run([&] {
    join([&] { join([&] { order += 'a'; }, [&] { order += 'b'; }); },
         [&] { join([&] { order += 'c'; }, [&] { order += 'd'; }); });
  });
  return order;
}

TEST_F(Deterministic, SameSeedGivesTheSameOrder) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(order_of_jobs(seed), order_of_jobs(seed));
    EXPECT_EQ(order_of_joins(seed), order_of_joins(seed));
  }
}

TEST_F(Deterministic, SeedsGiveManyOrders) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string order = order_of_jobs(seed);
    std::string sorted = order;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, "abcdefgh");
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 100U);
}

TEST_F(Deterministic, JoinsRunInEitherOrder) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    pool p(seeded(seed));
    std::string order;
    p.run([&] { join([&] { order += 'L'; }, [&] { order += 'R'; }); });
    orders.insert(order);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"LR", "RL"}));
}

TEST_F(Deterministic, NestedJoinsRunEverySideOnce) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string order = order_of_joins(seed);
    std::string sorted = order;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, "abcd") << "seed " << seed;
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 3U);
}

// Jobs spawned by the left side must not be mistaken for the right side that was drawn before.
TEST_F(Deterministic, JoinsWithSpawnedJobsRunEachOnce) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    int rights = 0;
    int spawned = 0;
    {
      pool p(seeded(seed));
      p.run([&] {
        join(
            [&] {
              p.spawn([&] { ++spawned; });
              join([&] { p.spawn([&] { ++spawned; }); }, [&] { ++rights; });
            },
            [&] { ++rights; });
      });
    }
    ASSERT_EQ(rights, 2) << "seed " << seed;
    ASSERT_EQ(spawned, 2) << "seed " << seed;
  }
}

TEST_F(Deterministic, EverythingRunsInTheCallersThread) {
  pool p(seeded(1));
  const auto here = std::this_thread::get_id();
  p.run([&] {
    task_group g;
    for (int i = 0; i < 10; ++i) g.spawn([&] { EXPECT_EQ(std::this_thread::get_id(), here); });
    g.wait();
  });
}

TEST_F(Deterministic, FutureIsAwaitedFromOutside) {
  pool p(seeded(1));
  EXPECT_EQ(p.submit([] { return 4; }).get(), 4);
  EXPECT_EQ(p.submit([] { return 4; }).then([](int x) { return x + 1; }).get(), 5);
  EXPECT_TRUE(p.submit([] {}).wait_for(1h));
}

TEST_F(Deterministic, GroupIsAwaitedFromOutside) {
  pool p(seeded(1));
  int ran = 0;
  task_group g(p);
  for (int i = 0; i < 10; ++i) g.spawn([&] { ++ran; });
  g.wait();
  EXPECT_EQ(ran, 10);
}

TEST_F(Deterministic, FuturesWorkInside) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    pool p(seeded(seed));
    EXPECT_EQ(p.run([&] {
      auto f = p.submit([&] { return p.submit([] { return 1; }).get() + 1; });
      auto g = p.submit([] { return 10; }).then([](int x) { return x * 2; });
      return f.get() + g.get();
    }),
              22);
  }
}

TEST_F(Deterministic, ExceptionsArriveWhereTheyShould) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    pool p(seeded(seed));
    EXPECT_THROW(p.run([] { join([] { throw 1; }, [] { throw 2.0; }); }), int);
    EXPECT_THROW(p.run([&] { p.submit([] { throw std::runtime_error("x"); }).get(); }),
                 std::runtime_error);
    EXPECT_THROW(p.run([] {
      task_group g;
      g.spawn([] { throw 1; });
      g.spawn([] { throw 2.0; });
      g.wait();
    }),
                 int);
  }
}

TEST_F(Deterministic, ShutdownRunsWhatIsLeft) {
  int ran = 0;
  {
    pool p(seeded(3));
    for (int i = 0; i < 10; ++i) p.spawn([&] { ++ran; });
    EXPECT_EQ(ran, 0);
  }
  EXPECT_EQ(ran, 10);
}

TEST_F(Deterministic, CancelDropsWhatIsLeft) {
  int ran = 0;
  pool p(seeded(3));
  for (int i = 0; i < 10; ++i) p.spawn([&] { ++ran; });
  auto f = p.submit([] {});
  p.shutdown(shutdown_mode::cancel);
  EXPECT_EQ(ran, 0);
  EXPECT_THROW(f.get(), cancelled);
}

TEST_F(Deterministic, SeedsThatDifferLittleGiveOrdersOfTheirOwn) {
  const auto order = [](std::uint64_t seed) {
    std::vector<int> ran;
    pool p(seeded(seed));
    for (int i = 0; i < 20; ++i) p.spawn([&ran, i] { ran.push_back(i); });
    p.shutdown();
    return ran;
  };
  EXPECT_NE(order(0), order(1));
  EXPECT_NE(order(1), order(std::uint64_t{1} << 31));
  EXPECT_NE(order(1), order(std::uint64_t{1} << 32));
}

TEST_F(Deterministic, SeveralThreadsMayRunInItInTurns) {
  pool p(seeded(1));
  std::vector<std::jthread> threads;
  std::atomic<int> ran{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) p.run([&] { ++ran; });
    });
  }
  threads.clear();
  EXPECT_EQ(ran, 400);
}

TEST_F(Deterministic, IsDrivenByAWorkerOfAnotherPoolThatWaitsForIt) {
  pool other({.workers = 1});
  pool p(seeded(1));
  other.run([&] {
    EXPECT_EQ(p.submit([] { return 3; }).get(), 3);
    task_group group(p);
    int ran = 0;
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 1);
  });
}

TEST_F(Deterministic, MayWaitForAPoolWithThreads) {
  pool other({.workers = 2});
  pool p(seeded(1));
  EXPECT_EQ(p.run([&] { return other.submit([] { return 3; }).get(); }), 3);
  EXPECT_EQ(p.run([&] { return other.run([] { return 4; }); }), 4);
}

TEST_F(Deterministic, MakesRoomItselfWhenTheQueueIsFull) {
  pool p({.max_pending = 1, .deterministic_seed = 1});
  int ran = 0;
  for (int i = 0; i < 5; ++i) p.spawn([&] { ++ran; });
  EXPECT_EQ(ran, 4);
  p.shutdown();
  EXPECT_EQ(ran, 5);
}

TEST_F(Deterministic, ChecksItsOptions) {
  EXPECT_THROW(pool({.nesting_limit = 0, .deterministic_seed = 1}), std::invalid_argument);
}

TEST(DeterministicDeathTest, WaitForWhatNeverHappensAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        pool p(seeded(1));
        future<void> itself;
        itself = p.submit([&] { itself.wait(); });
        p.shutdown();
      },
      "deterministic pool waits for something");
}

}  // namespace
}  // namespace weft
