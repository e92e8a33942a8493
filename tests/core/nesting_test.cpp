#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/observer.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

// The deepest nesting that any job has seen on its own worker.
class depth_gauge : public observer {
 public:
  void job_begins(unsigned worker, const void* /*job*/) noexcept override {
    const std::size_t now = watched->stats().per_worker[worker].nesting;
    std::size_t seen = deepest;
    while (seen < now && !deepest.compare_exchange_weak(seen, now)) {
    }
  }
  const pool* watched = nullptr;
  std::atomic<std::size_t> deepest{0};
};

constexpr std::size_t small_stack = test::under_sanitizer ? 4 << 20 : 256 << 10;

// The jobs at the top of the deque wait for jobs at its bottom: whoever waits takes the next
// waiter.
std::size_t deepest_chain_of_waiters(unsigned workers) {
  depth_gauge gauge;
  pool p({.workers = workers, .stack_size = small_stack, .nesting_limit = 16, .observer = &gauge});
  gauge.watched = &p;
  const test::watchdog guard(120s, p);
  const int count = test::rounds(100'000);
  std::atomic<int> done{0};
  p.submit([&] {
     std::vector<future<int>> bottom;
     for (int i = 0; i < count; ++i) bottom.push_back(p.submit([i] { return i; }));
     task_group waiters;
     for (int i = 0; i < count; ++i) {
       waiters.spawn([&, i] {
         if (bottom[static_cast<std::size_t>(i)].get() == i) ++done;
       });
     }
     waiters.wait();
   }).get();
  EXPECT_EQ(done, count);
  return gauge.deepest;
}

TEST(Nesting, JobsThatWaitAndHelpInAChainStayWithinTheBound) {
  EXPECT_EQ(deepest_chain_of_waiters(1), 16U) << "alone it comes to the limit for sure";
  EXPECT_LE(deepest_chain_of_waiters(2), 16U);
  EXPECT_LE(deepest_chain_of_waiters(4), 16U);
}

// Each job waits for jobs of its own.
TEST(Nesting, GroupsInsideGroupsStayWithinTheBound) {
  depth_gauge gauge;
  pool p({.workers = 2, .stack_size = small_stack, .nesting_limit = 16, .observer = &gauge});
  gauge.watched = &p;
  const test::watchdog guard(120s, p);
  const int count = test::rounds(100'000);
  std::atomic<int> done{0};
  p.submit([&] {
     task_group all;
     for (int i = 0; i < count; ++i) {
       all.spawn([&] {
         std::atomic<int> children{0};
         task_group mine;
         for (int k = 0; k < 2; ++k) mine.spawn([&] { ++children; });
         mine.wait();
         if (children == 2) ++done;
       });
     }
     all.wait();
   }).get();
  EXPECT_EQ(done, count);
  // A job at the limit runs what it spawns as a plain call, which counts as one level more.
  EXPECT_LE(gauge.deepest, 16U + 1U);
}

TEST(Nesting, JoinsThatWaitAndHelpStayWithinTheBound) {
  depth_gauge gauge;
  pool p({.workers = 2, .stack_size = small_stack, .nesting_limit = 16, .observer = &gauge});
  gauge.watched = &p;
  const test::watchdog guard(120s, p);
  const int count = test::rounds(100'000);
  std::atomic<int> done{0};
  for (int i = 0; i < count; ++i) {
    p.spawn([&] {
      auto [a, b] = join([] { return 1; }, [] { return 2; });
      auto f = pool::current()->submit([] { return 3; });
      auto [c, d] = join([&] { return f.get(); }, [] { return 4; });
      done += a + b + c + d == 10 ? 1 : 0;
    });
  }
  p.shutdown();
  EXPECT_EQ(done, count);
  EXPECT_LE(gauge.deepest, 16U + 1U);
}

TEST(Nesting, FuturesAwaitedInAChainStayWithinTheBound) {
  depth_gauge gauge;
  pool p({.workers = 1, .stack_size = small_stack, .nesting_limit = 16, .observer = &gauge});
  gauge.watched = &p;
  const test::watchdog guard(120s, p);
  const int count = test::rounds(100'000);
  std::atomic<int> done{0};
  for (int i = 0; i < count; ++i) {
    p.spawn([&] {
      auto f = pool::current()->submit([] { return 1; });
      auto g = pool::current()->submit([] { return 2; });
      done += f.get() + g.get() == 3 ? 1 : 0;
    });
  }
  p.shutdown();
  EXPECT_EQ(done, count);
  EXPECT_LE(gauge.deepest, 16U + 1U);
}

int wait_downwards(pool& p, int depth) {
  if (depth == 0) return 0;
  return 1 + p.submit([&p, depth] { return wait_downwards(p, depth - 1); }).get();
}

int wait_downwards_in_groups(int depth) {
  if (depth == 0) return 0;
  int below = 0;
  task_group g;
  g.spawn([&] { below = wait_downwards_in_groups(depth - 1); });
  g.wait();
  return 1 + below;
}

TEST(Nesting, OnlyWorkerFinishesNestedWaitsBelowItsLimit) {
  pool p({.workers = 1});
  const test::watchdog guard(30s, p);
  EXPECT_EQ(p.submit([&] { return wait_downwards(p, 50); }).get(), 50);
  EXPECT_EQ(p.submit([] { return wait_downwards_in_groups(50); }).get(), 50);
}

TEST(Nesting, OnlyWorkerFinishesNestedWaitsBeyondItsLimit) {
  for (const unsigned limit : {1U, 2U, 8U}) {
    pool p({.workers = 1, .nesting_limit = limit});
    const test::watchdog guard(30s, p);
    EXPECT_EQ(p.submit([&] { return wait_downwards(p, 300); }).get(), 300);
    EXPECT_EQ(p.submit([] { return wait_downwards_in_groups(300); }).get(), 300);
  }
}

TEST(Nesting, SeveralWorkersFinishNestedWaitsBeyondTheirLimit) {
  pool p({.workers = 3, .nesting_limit = 2});
  const test::watchdog guard(60s, p);
  std::atomic<int> sum{0};
  for (int i = 0; i < test::rounds(2000); ++i) {
    p.spawn([&] {
      sum += wait_downwards(*pool::current(), 6) == 6 ? 1 : 0;
      sum += wait_downwards_in_groups(6) == 6 ? 1 : 0;
    });
  }
  p.shutdown();
  EXPECT_EQ(sum, 2 * test::rounds(2000));
}

TEST(Nesting, IsZeroWhenThePoolIsQuiet) {
  pool p({.workers = 2});
  EXPECT_EQ(p.submit([&] { return wait_downwards(p, 10); }).get(), 10);
  p.shutdown();
  for (const worker_stats& w : p.stats().per_worker) EXPECT_EQ(w.nesting, 0U);
}

}  // namespace
}  // namespace weft
