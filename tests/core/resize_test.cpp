#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <sched.h>
#include <array>
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/join.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class Resize : public ::testing::Test {
 protected:
  // The most jobs that were running at one moment, of `count` that do nothing but overlap.
  int most_at_once(int count) {
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    std::latch all(count);
    for (int i = 0; i < count; ++i) {
      p.spawn([&] {
        const int now = ++running;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --running;
        all.count_down();
      });
    }
    all.wait();
    return most;
  }

  pool p{{.workers = 2, .max_workers = 8}};
  test::watchdog guard{60s, p};
};

TEST_F(Resize, OutOfRangeIsRefused) {
  EXPECT_THROW(p.resize(0), std::invalid_argument);
  EXPECT_THROW(p.resize(9), std::invalid_argument);
  try {
    p.resize(9);
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("between 1 and 8"));
  }
  EXPECT_EQ(p.workers(), 2U);
}

TEST_F(Resize, UpLetsMoreJobsRunAtOnce) {
  p.resize(5);
  EXPECT_EQ(p.workers(), 5U);
  std::barrier all(5);
  std::latch over(5);
  for (int i = 0; i < 5; ++i) {
    p.spawn([&] {
      all.arrive_and_wait();
      over.count_down();
    });
  }
  over.wait();
}

TEST_F(Resize, UpReachesJobsThatAreWaitingAlready) {
  std::barrier all(4);
  std::latch over(4);
  for (int i = 0; i < 4; ++i) {
    p.spawn([&] {
      all.arrive_and_wait();
      over.count_down();
    });
  }
  p.resize(4);
  over.wait();
}

TEST_F(Resize, UpFromInsideAJobReachesItsPrivateJobs) {
  p.resize(1);
  p.run([&] {
    std::latch right_runs(1);
    join(
        [&] {
          p.resize(2);
          right_runs.wait();
        },
        [&] { right_runs.count_down(); });
  });
}

TEST_F(Resize, DownToOneLeavesOneRunning) {
  p.resize(4);
  most_at_once(100);
  p.resize(1);
  EXPECT_EQ(p.workers(), 1U);
  // Workers too many leave when they have finished a job: one round of jobs sends them away.
  while (p.stats().idle_workers == 0 || p.dump().find("to leave") != std::string::npos) {
    std::this_thread::yield();
  }
  EXPECT_EQ(most_at_once(2000), 1);
}

TEST_F(Resize, JobsOfAWorkerThatLeavesAreTakenByOthers) {
  std::latch inside(2);
  std::latch out(1);
  std::atomic<int> ran{0};
  std::latch all(200);
  for (int i = 0; i < 2; ++i) {
    p.spawn([&] {
      for (int k = 0; k < 100; ++k) {
        p.spawn([&] {
          ++ran;
          all.count_down();
        });
      }
      inside.count_down();
      out.wait();
    });
  }
  inside.wait();
  p.resize(1);
  out.count_down();
  all.wait();
  EXPECT_EQ(ran, 200);
}

TEST_F(Resize, FromJobsAndThreadsAtOnceLosesNothing) {
  std::atomic<int> ran{0};
  const int each = test::rounds(20'000);
  std::latch all(2 * each);
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) {
          p.spawn([&, i] {
            if (i % 64 == 0) p.resize(1 + static_cast<unsigned>(i / 64) % 8);
            ++ran;
            all.count_down();
          });
          if (i % 128 == 0) p.resize(1 + (static_cast<unsigned>(i) / 128 + t) % 8);
        }
      });
    }
  }
  all.wait();
  EXPECT_EQ(ran, 2 * each);
}

TEST_F(Resize, ToTheSameSizeChangesNothing) {
  p.resize(2);
  EXPECT_EQ(p.workers(), 2U);
  EXPECT_EQ(p.stats().per_worker.size(), 2U);
}

TEST_F(Resize, DownAndUpAgainUsesTheSameThreads) {
  p.resize(8);
  p.resize(1);
  p.resize(8);
  EXPECT_EQ(p.stats().per_worker.size(), 8U);
}

TEST_F(Resize, FromAJobOfAPinnedPoolUsesAllCpusOfTheProcess) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "needs two CPUs";
  pool q({.workers = 1, .max_workers = 2, .pin = true});
  q.submit([&] { q.resize(2); }).get();
  std::latch both(2);
  std::array<int, 2> cpus{};
  task_group g(q);
  for (int& cpu : cpus) {
    g.spawn([&] {
      both.arrive_and_wait();
      cpu = ::sched_getcpu();
    });
  }
  while (!both.try_wait()) std::this_thread::yield();  // not by helping: two workers must come
  g.wait();
  EXPECT_NE(cpus[0], cpus[1]);
}

}  // namespace
}  // namespace weft
