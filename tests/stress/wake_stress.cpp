// One job at a time, so that every single wake-up counts: a lost one is a hang.

#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

pool_options eager_to_sleep() { return {.workers = 2, .spin_limit = 0, .yield_limit = 0}; }

void spawn_one_at_a_time(pool& p, int count) {
  const test::watchdog guard(240s, p);
  std::binary_semaphore done(0);
  for (int i = 0; i < count; ++i) {
    p.spawn([&] { done.release(); });
    done.acquire();
  }
}

TEST(WakeStress, OneJobAtATimeFromOutside) {
  pool p({.workers = 2});
  spawn_one_at_a_time(p, test::rounds(1'000'000));
}

TEST(WakeStress, OneJobAtATimeForWorkersThatSleepAtOnce) {
  pool p(eager_to_sleep());
  spawn_one_at_a_time(p, test::rounds(200'000));
}

TEST(WakeStress, OneStolenForkAtATime) {
  pool p({.workers = 2});
  const test::watchdog guard(240s, p);
  p.run([&] {
    for (int i = 0; i < test::rounds(200'000); ++i) {
      std::binary_semaphore right(0);
      join([&] { right.acquire(); }, [&] { right.release(); });
    }
  });
}

TEST(WakeStress, OneStolenForkAtATimeForWorkersThatSleepAtOnce) {
  pool p(eager_to_sleep());
  const test::watchdog guard(240s, p);
  p.run([&] {
    for (int i = 0; i < test::rounds(100'000); ++i) {
      std::binary_semaphore right(0);
      join([&] { right.acquire(); }, [&] { right.release(); });
    }
  });
}

// The frame is gone as soon as the join returns; a thief that touched it late would be caught.
TEST(WakeStress, JoinWhoseFrameReturnsAtOnce) {
  pool p({.workers = 2});
  const test::watchdog guard(240s, p);
  auto leaf = [](auto& self, int depth) -> int {
    if (depth == 0) return 1;
    auto [a, b] = join([&] { return self(self, depth - 1); }, [] { return 1; });
    return a + b;
  };
  for (int i = 0; i < test::rounds(300'000); ++i) {
    ASSERT_EQ(p.run([&] { return leaf(leaf, 3); }), 4);
  }
}

TEST(WakeStress, FuturesAwaitedInsideWorkersThatSleepAtOnce) {
  pool p(eager_to_sleep());
  const test::watchdog guard(240s, p);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < test::rounds(50'000); ++i) {
        ASSERT_EQ(p.submit([&] { return p.submit([] { return 1; }).get() + 1; }).get(), 2);
      }
    });
  }
}

// Workers sleep inside jobs until another pool answers, while outside callers borrow their seats.
TEST(WakeStress, SeatsAreBorrowedWhileWorkersSleepInsideJobs) {
  for (const unsigned workers : {1U, 2U, 3U}) {
    pool p({.workers = workers, .spin_limit = 0, .yield_limit = 0});
    pool other({.workers = 1, .spin_limit = 0, .yield_limit = 0});
    const test::watchdog guard(240s, [&] { return p.dump() + other.dump(); });
    std::atomic<int> ran{0};
    const int each = test::rounds(30'000);
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
          for (int i = 0; i < each; ++i) {
            p.submit([&] {
               other.submit([] {}).wait();
               p.spawn([&] { ++ran; });
             }).wait();
          }
        });
        threads.emplace_back([&] {
          for (int i = 0; i < each; ++i) p.run([&] { ++ran; });
        });
        threads.emplace_back([&] {
          for (int i = 0; i < each; ++i) {
            task_group g(p);
            g.spawn([&] { ++ran; });
            g.wait();
          }
        });
      }
    }
    p.shutdown();
    ASSERT_EQ(ran, 6 * each);
  }
}

// As above at the nesting limit, where a sleeping worker does not hear that there is work.
TEST(WakeStress, DeafSleepersDoNotSwallowWakeUps) {
  pool p({.workers = 3, .spin_limit = 0, .yield_limit = 0, .nesting_limit = 1});
  pool other({.workers = 1, .spin_limit = 0, .yield_limit = 0});
  const test::watchdog guard(240s, [&] { return p.dump() + other.dump(); });
  std::atomic<int> ran{0};
  const int each = test::rounds(20'000);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          p.submit([&] {
             p.submit([&] {
                other.submit([] {}).wait();
                p.spawn([&] { ++ran; });
              }).wait();
           }).wait();
        }
      });
    }
  }
  p.shutdown();
  EXPECT_EQ(ran, 3 * each);
}

}  // namespace
}  // namespace weft
