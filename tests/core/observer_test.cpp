#include <weft/core/observer.hpp>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/lane.hpp>
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
  void job_withdrawn(const void*) noexcept override { ++withdrawn; }
  void worker_helps(unsigned) noexcept override { ++helped; }
  void worker_sleeps(unsigned) noexcept override { ++slept; }
  void worker_wakes(unsigned) noexcept override { ++woke; }

  std::atomic<int> queued{0}, begun{0}, ended{0}, stolen{0}, slept{0}, woke{0}, withdrawn{0},
      helped{0};
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

TEST(Observer, IsToldWhatWasNotQueuedAfterAll) {
  for (const when_full overflow : {when_full::reject, when_full::run_in_caller}) {
    recorder seen;
    std::latch begun(1);
    std::latch go(1);
    pool p({.workers = 1, .max_pending = 1, .overflow = overflow, .observer = &seen});
    p.spawn([&] {
      begun.count_down();
      go.wait();
    });
    begun.wait();
    p.spawn([] {});
    try {
      p.spawn([] {});
    } catch (const queue_full&) {
      EXPECT_EQ(overflow, when_full::reject);
    }
    go.count_down();
    p.shutdown();
    EXPECT_THROW(p.spawn([] {}), pool_stopped);
    EXPECT_EQ(seen.withdrawn, 1);
    EXPECT_EQ(seen.begun, seen.queued - seen.withdrawn);
  }
}

// Who comes later has not heard of the job, and who has heard of it must not wait for it for ever.
TEST(Observer, IsToldWhatWasNotQueuedAfterAllIfItWasToldThatItIs) {
  for (const bool is_there_at_first : {true, false}) {
    SCOPED_TRACE(is_there_at_first);
    const auto seen = std::make_shared<recorder>();
    const auto other = std::make_shared<recorder>();
    std::latch begun(1);
    std::latch go(1);
    pool p({.workers = 1, .max_pending = 1, .overflow = when_full::block});
    p.spawn([&] {
      begun.count_down();
      go.wait();
    });
    begun.wait();
    p.spawn([] {});
    lane_of(p).observe(is_there_at_first ? seen : other);
    std::jthread waits([&] { EXPECT_THROW(p.spawn([] {}), pool_stopped); });
    const auto& told = is_there_at_first ? seen->queued : other->queued;
    while (told == 0) std::this_thread::yield();
    lane_of(p).observe(nullptr);
    if (!is_there_at_first) lane_of(p).observe(seen);
    std::jthread ends([&] { p.shutdown(); });
    waits.join();
    go.count_down();
    ends.join();
    EXPECT_EQ(seen->queued, is_there_at_first ? 1 : 0);
    EXPECT_EQ(seen->withdrawn, seen->queued);
  }
}

TEST(Observer, IsToldOfEachWaitThatMayRunOthers) {
  recorder seen;
  pool p({.workers = 1, .observer = &seen});
  p.run([&] {
    for (int i = 0; i < 3; ++i) p.submit([] {}).get();
  });
  EXPECT_EQ(seen.helped, 3);
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
