#include <weft/core/stats.hpp>

#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>

#include <support/scale.hpp>

namespace weft {
namespace {

TEST(Stats, OfANewPoolAreZero) {
  pool p({.workers = 3});
  const pool_stats s = p.stats();
  EXPECT_EQ(s.spawned, 0U);
  EXPECT_EQ(s.executed, 0U);
  EXPECT_EQ(s.stolen, 0U);
  EXPECT_EQ(s.dropped, 0U);
  EXPECT_EQ(s.queue_depth, 0U);
  EXPECT_EQ(s.workers, 3U);
  EXPECT_EQ(s.idle_workers, 3U);
  EXPECT_EQ(s.per_worker.size(), 3U);
}

TEST(Stats, AddUpWhenThePoolIsQuiet) {
  pool p({.workers = 2});
  const auto count = static_cast<std::uint64_t>(test::rounds(10'000));
  for (std::uint64_t i = 0; i < count; ++i) p.spawn([&] { p.spawn([] {}); });
  p.shutdown();
  const pool_stats s = p.stats();
  EXPECT_EQ(s.executed, 2 * count);
  EXPECT_EQ(s.spawned, 2 * count);
  EXPECT_EQ(s.queue_depth, 0U);
  std::uint64_t executed = 0;
  std::uint64_t injected = 0;
  std::uint64_t spawned = 0;
  for (const worker_stats& w : s.per_worker) {
    executed += w.executed;
    injected += w.injected;
    spawned += w.spawned;
    EXPECT_EQ(w.queued, 0U);
    EXPECT_EQ(w.activity, worker_activity::asleep);
  }
  EXPECT_EQ(executed, s.executed);
  EXPECT_EQ(injected, count);
  EXPECT_EQ(spawned, count);
}

TEST(Stats, CountQueuedAndIdle) {
  std::latch inside(1);
  std::latch out(1);
  pool p({.workers = 1});  // after what its job uses: it waits for the job
  p.spawn([&] {
    inside.count_down();
    out.wait();
  });
  inside.wait();
  for (int i = 0; i < 5; ++i) p.spawn([] {});
  const pool_stats s = p.stats();
  EXPECT_EQ(s.queue_depth, 5U);
  EXPECT_EQ(s.idle_workers, 0U);
  EXPECT_EQ(s.spawned, 6U);
  EXPECT_EQ(s.per_worker[0].activity, worker_activity::running);
  out.count_down();
}

TEST(Stats, CountStolenForks) {
  pool p({.workers = 2});
  for (int i = 0; i < 10; ++i) {
    p.run([] {
      std::latch right(1);
      join([&] { right.wait(); }, [&] { right.count_down(); });
    });
  }
  p.shutdown();
  EXPECT_EQ(p.stats().stolen, 10U);
  EXPECT_EQ(p.stats().executed, 10U);
}

TEST(Stats, CanBeReadWhileThePoolWorksAndIsResized) {
  pool p({.workers = 2, .max_workers = 6});
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const pool_stats s = p.stats();
      EXPECT_LE(s.idle_workers, s.workers);
      EXPECT_FALSE(p.dump().empty());
    }
  });
  for (int i = 0; i < test::rounds(20'000); ++i) {
    p.spawn([] {});
    if (i % 100 == 0) p.resize(1 + static_cast<unsigned>(i / 100) % 6);
  }
}

}  // namespace
}  // namespace weft
