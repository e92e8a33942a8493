#include <weft/core/observer.hpp>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>

namespace weft {
namespace {

class recorder : public observer {
 public:
  void job_queued(const void*) noexcept override { ++queued; }
  void job_begins(unsigned worker, const void*) noexcept override {
    EXPECT_LT(worker, 2U);
    ++begun;
  }
  void job_ends(unsigned) noexcept override { ++ended; }
  void job_stolen(unsigned thief, unsigned victim, const void*) noexcept override {
    EXPECT_NE(thief, victim);
    ++stolen;
  }
  void worker_sleeps(unsigned) noexcept override { ++slept; }
  void worker_wakes(unsigned) noexcept override { ++woke; }

  std::atomic<int> queued{0}, begun{0}, ended{0}, stolen{0}, slept{0}, woke{0};
};

TEST(Observer, SeesEveryJobBeginAndEnd) {
  recorder seen;
  pool p({.workers = 2, .observer = &seen});
  for (int i = 0; i < 100; ++i) p.spawn([] {});
  p.shutdown();
  EXPECT_EQ(seen.queued, 100);
  EXPECT_EQ(seen.begun, 100);
  EXPECT_EQ(seen.ended, 100);
}

TEST(Observer, SeesAForkOnlyWhenItIsStolen) {
  recorder seen;
  pool one({.workers = 1, .observer = &seen});
  one.run([] { join([] {}, [] {}); });
  one.shutdown();
  EXPECT_EQ(seen.begun, 0);
  EXPECT_EQ(seen.stolen, 0);

  pool two({.workers = 2, .observer = &seen});
  two.run([] {
    std::latch right(1);
    join([&] { right.wait(); }, [&] { right.count_down(); });
  });
  two.shutdown();
  EXPECT_EQ(seen.begun, 1);
  EXPECT_EQ(seen.ended, 1);
  EXPECT_EQ(seen.stolen, 1);
}

TEST(Observer, SeesWorkersSleepAndWake) {
  recorder seen;
  pool p({.workers = 2, .observer = &seen});
  p.submit([] {}).get();
  p.shutdown();
  EXPECT_GT(seen.slept, 0);
  EXPECT_GT(seen.woke, 0);
}

TEST(Observer, AgreesWithTheStats) {
  recorder seen;
  pool p({.workers = 2, .observer = &seen});
  for (int i = 0; i < 1000; ++i) {
    p.spawn([&] { p.spawn([] {}); });
  }
  p.shutdown();
  const pool_stats s = p.stats();
  EXPECT_EQ(static_cast<std::uint64_t>(seen.begun), s.executed);
  EXPECT_EQ(static_cast<std::uint64_t>(seen.slept), s.parks);
}

}  // namespace
}  // namespace weft
