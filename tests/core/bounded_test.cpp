#include <weft/core/pool.hpp>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

// A pool whose only worker is busy until it is let go, and whose queue holds two jobs.
class BoundedPool : public ::testing::Test {
 protected:
  pool& busy(when_full overflow) {
    p.emplace(pool_options{.workers = 1, .max_pending = 2, .overflow = overflow});
    guard.emplace(30s, *p);
    p->spawn([this] {
      inside.count_down();
      out.wait();
    });
    inside.wait();
    for (int i = 0; i < 2; ++i) p->spawn([this] { ++ran; });
    return *p;
  }

  std::latch inside{1};
  std::latch out{1};
  std::atomic<int> ran{0};
  std::optional<pool> p;
  std::optional<test::watchdog> guard;
};

TEST_F(BoundedPool, RejectsWhenFull) {
  pool& full = busy(when_full::reject);
  EXPECT_THROW(full.spawn([this] { ++ran; }), queue_full);
  EXPECT_THROW(auto f = full.submit([this] { ++ran; }), queue_full);
  EXPECT_THROW(full.run([this] { ++ran; }), queue_full);
  out.count_down();
  full.shutdown();
  EXPECT_EQ(ran, 2);
}

TEST_F(BoundedPool, TellsHowManyAreWaiting) {
  pool& full = busy(when_full::reject);
  try {
    full.spawn([] {});
    ADD_FAILURE();
  } catch (const queue_full& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("2 jobs are waiting"));
  }
  out.count_down();
}

TEST_F(BoundedPool, RunsInTheCallerWhenFull) {
  pool& full = busy(when_full::run_in_caller);
  std::thread::id where;
  full.spawn([&] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(full.submit([] { return 3; }).get(), 3);
  EXPECT_EQ(full.run([] { return 4; }), 4);
  EXPECT_EQ(ran, 0);
  out.count_down();
}

TEST_F(BoundedPool, BlocksTheCallerWhenFull) {
  pool& full = busy(when_full::block);
  std::atomic<bool> through{false};
  std::jthread caller([&] {
    full.spawn([this] { ++ran; });
    through = true;
  });
  // Nothing tells that a thread is blocked; but it cannot get through before the worker is let go.
  EXPECT_FALSE(through);
  out.count_down();
  caller.join();
  full.shutdown();
  EXPECT_EQ(ran, 3);
}

TEST_F(BoundedPool, ShutdownReleasesBlockedCallers) {
  pool& full = busy(when_full::block);
  std::atomic<int> accepted{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      try {
        full.spawn([this] { ++ran; });
        ++accepted;
      } catch (const pool_stopped&) {
      }
    });
  }
  std::jthread release([&] { out.count_down(); });
  full.shutdown();
  callers.clear();
  EXPECT_EQ(ran, 2 + accepted);
}

TEST_F(BoundedPool, DoesNotLimitWhatJobsSpawn) {
  p.emplace(pool_options{.workers = 1, .max_pending = 2, .overflow = when_full::reject});
  p->run([&] {
    for (int i = 0; i < 100; ++i) p->spawn([this] { ++ran; });
  });
  p->shutdown();
  EXPECT_EQ(ran, 100);
}

TEST_F(BoundedPool, ManyBlockedProducersAllGetThrough) {
  p.emplace(pool_options{.workers = 2, .max_pending = 1});
  guard.emplace(60s, *p);
  const int each = test::rounds(20'000);
  {
    std::vector<std::jthread> producers;
    for (int t = 0; t < 4; ++t) {
      producers.emplace_back([&] {
        for (int i = 0; i < each; ++i) p->spawn([this] { ++ran; });
      });
    }
  }
  p->shutdown();
  EXPECT_EQ(ran, 4 * each);
}

}  // namespace
}  // namespace weft
