#include <weft/io/blocking_lane.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/scale.hpp>
#include <support/watchdog.hpp>
#include "io/recorded_job.hpp"

namespace weft::io {
namespace {

using namespace std::chrono_literals;
using detail::job_fate;
using test::recorded_job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BlockingLane : public ::testing::Test {
 protected:
  test::watchdog guard{60s};
};

// A job that has begun and stays until it is let go.
class held_job {
 public:
  [[nodiscard]] recorded_job& job() { return job_; }
  void wait_until_it_runs() { begun_.wait(); }
  void let_go() { go_.count_down(); }
  [[nodiscard]] std::thread::id where() const { return where_; }

 private:
  std::latch begun_{1};
  std::latch go_{1};
  std::thread::id where_;
  recorded_job job_{[this] {
    where_ = std::this_thread::get_id();
    begun_.count_down();
    go_.wait();
  }};
};

void wait_until_idle(const blocking_lane& lane, unsigned threads) {
  while (lane.stats().idle != threads) std::this_thread::yield();
}

// --- Threads as needed ---------------------------------------------------------------------------

TEST_F(BlockingLane, RunsJobsOnThreadsOfItsOwn) {
  bool was_here = false;
  std::thread::id where;
  blocking_lane lane;
  recorded_job job([&] {
    was_here = lane.is_here();
    where = std::this_thread::get_id();
  });
  EXPECT_TRUE(lane.try_post(job));
  EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_TRUE(was_here);
  EXPECT_FALSE(lane.is_here());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST_F(BlockingLane, MakesNoThreadBeforeThereIsAJob) {
  const blocking_lane lane;
  EXPECT_EQ(lane.stats().started_total, 0U);
}

TEST_F(BlockingLane, JobsThatSleepSleepAtOnce) {
  constexpr int count = 16;
  std::latch all(count);
  std::deque<recorded_job> jobs;
  for (int i = 0; i < count; ++i) jobs.emplace_back([&] { all.arrive_and_wait(); });
  blocking_lane lane({.max_threads = count});
  for (recorded_job& job : jobs) EXPECT_TRUE(lane.try_post(job));
  for (recorded_job& job : jobs) EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_EQ(lane.stats().started_total, 16U);
}

TEST_F(BlockingLane, UsesAnIdleThreadBeforeItMakesAnother) {
  std::deque<recorded_job> jobs(100);
  blocking_lane lane;
  for (recorded_job& job : jobs) {
    EXPECT_TRUE(lane.try_post(job));
    EXPECT_EQ(job.fate(), job_fate::run);
    wait_until_idle(lane, 1);
  }
  const blocking_lane_stats stats = lane.stats();
  EXPECT_EQ(stats.started_total, 1U);
  EXPECT_EQ(stats.threads, 1U);
  EXPECT_EQ(stats.running, 0U);
}

TEST_F(BlockingLane, TakesTheThreadThatBecameIdleLast) {
  std::array<held_job, 3> held;
  std::thread::id where;
  recorded_job next([&] { where = std::this_thread::get_id(); });
  blocking_lane lane;
  for (held_job& each : held) {
    EXPECT_TRUE(lane.try_post(each.job()));
    each.wait_until_it_runs();
  }
  unsigned idle = 0;
  for (const std::size_t i : {2U, 0U, 1U}) {
    held[i].let_go();
    wait_until_idle(lane, ++idle);
  }
  EXPECT_TRUE(lane.try_post(next));
  EXPECT_EQ(next.fate(), job_fate::run);
  EXPECT_EQ(where, held[1].where());
}

TEST_F(BlockingLane, TellsItsObserverWhatItHasRefused) {
  struct counting : observer {
    void job_queued(const void* job) noexcept override { queued.push_back(job); }
    void job_withdrawn(const void* job) noexcept override { withdrawn.push_back(job); }
    std::vector<const void*> queued, withdrawn;  // by this thread
  };
  const auto seen = std::make_shared<counting>();
  held_job held;
  recorded_job refused;
  recorded_job late;
  blocking_lane lane({.max_threads = 1, .max_waiting = 0});
  ASSERT_TRUE(lane.observe(seen));
  EXPECT_TRUE(lane.try_post(held.job()));
  EXPECT_FALSE(lane.try_post(refused));
  held.let_go();
  lane.shutdown(shutdown_mode::cancel);
  lane.post(late);
  EXPECT_EQ(late.fate(), job_fate::drop);
  EXPECT_EQ(seen->queued.size(), 3U);
  EXPECT_EQ(seen->withdrawn, (std::vector<const void*>{&refused, &late}));
}

TEST_F(BlockingLane, TellsItsObserverOfJobsThatItDropsWhenItEnds) {
  struct counting : observer {
    void job_queued(const void*) noexcept override { ++queued; }
    void job_begins(unsigned, const void*) noexcept override { ++begun; }
    void job_ends(unsigned) noexcept override { ++ended; }
    std::atomic<int> queued{0}, begun{0}, ended{0};
  };
  const auto seen = std::make_shared<counting>();
  held_job held;
  recorded_job waiting;
  blocking_lane lane({.max_threads = 1});
  ASSERT_TRUE(lane.observe(seen));
  lane.post(held.job());
  lane.post(waiting);
  {
    const std::jthread ends([&] { lane.shutdown(shutdown_mode::cancel); });
    EXPECT_EQ(waiting.fate(), job_fate::drop);
    held.let_go();
  }
  EXPECT_EQ(seen->queued, 2);
  EXPECT_EQ(seen->begun, 2);
  EXPECT_EQ(seen->ended, 2);
}

TEST_F(BlockingLane, BeyondItsThreadsJobsWaitInOrderAndBeyondItsRoomTheyAreRefused) {
  held_job held;
  std::vector<int> order;
  std::deque<recorded_job> jobs;
  for (int i = 0; i < 4; ++i) jobs.emplace_back([&order, i] { order.push_back(i); });
  blocking_lane lane({.max_threads = 1, .max_waiting = 2});
  EXPECT_TRUE(lane.try_post(held.job()));
  held.wait_until_it_runs();
  EXPECT_TRUE(lane.try_post(jobs[0]));
  EXPECT_TRUE(lane.try_post(jobs[1]));
  EXPECT_FALSE(lane.try_post(jobs[2]));
  lane.post(jobs[3]);  // accepted before: goes on however full it is
  const blocking_lane_stats full = lane.stats();
  EXPECT_EQ(full.running, 1U);
  EXPECT_EQ(full.waiting, 3U);
  EXPECT_EQ(full.refused, 1U);
  EXPECT_EQ(full.threads, 1U);
  EXPECT_EQ(full.idle, 0U);
  held.let_go();
  EXPECT_EQ(jobs[3].fate(), job_fate::run);
  lane.shutdown(shutdown_mode::drain);
  EXPECT_THAT(order, ElementsAre(0, 1, 3));
  EXPECT_FALSE(jobs[2].is_done());
}

TEST_F(BlockingLane, WithoutRoomToWaitItTakesWhatItHasThreadsFor) {
  held_job held;
  recorded_job other;
  blocking_lane lane({.max_threads = 1, .max_waiting = 0});
  EXPECT_TRUE(lane.try_post(held.job()));
  EXPECT_FALSE(lane.try_post(other));
  held.let_go();
}

TEST_F(BlockingLane, ThreadsThatHaveNothingToDoEndAndTheirNumbersAreUsedAgain) {
  std::mutex mutex;
  std::vector<unsigned> started;
  std::vector<unsigned> stopped;
  std::deque<recorded_job> jobs(20);
  blocking_lane lane({.max_threads = 4,
                      .idle_exit = 0ms,
                      .on_thread_start =
                          [&](unsigned number) {
                            const std::lock_guard lock(mutex);
                            started.push_back(number);
                          },
                      .on_thread_stop =
                          [&](unsigned number) {
                            const std::lock_guard lock(mutex);
                            stopped.push_back(number);
                          }});
  for (recorded_job& job : jobs) {
    EXPECT_TRUE(lane.try_post(job));
    EXPECT_EQ(job.fate(), job_fate::run);
    while (lane.stats().threads != 0) std::this_thread::yield();
  }
  EXPECT_EQ(lane.stats().started_total, 20U);
  EXPECT_EQ(started, std::vector<unsigned>(20, 0U));
  EXPECT_EQ(stopped, started);
}

TEST_F(BlockingLane, JobThatComesWhileItsOnlyThreadIsEndingIsRun) {
  std::latch stopping(1);
  std::latch go(1);
  recorded_job first;
  recorded_job second;
  bool waited = false;
  int starts = 0;
  blocking_lane lane({.max_threads = 1,
                      .idle_exit = 0ms,
                      .on_thread_start = [&](unsigned) { ++starts; },
                      .on_thread_stop =
                          [&](unsigned) {
                            if (std::exchange(waited, true)) return;
                            stopping.count_down();
                            go.wait();
                          }});
  EXPECT_TRUE(lane.try_post(first));
  stopping.wait();
  EXPECT_TRUE(lane.try_post(second));
  go.count_down();
  EXPECT_EQ(second.fate(), job_fate::run);
  lane.shutdown(shutdown_mode::drain);
  EXPECT_EQ(lane.stats().started_total, 1U);
  EXPECT_EQ(starts, 2);  // to the hooks it is a new thread
}

// --- What a thread is like -----------------------------------------------------------------------

TEST_F(BlockingLane, ThreadsBlockSignalsAndLeaveThoseOfTheCallerAlone) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  sigset_t inside;
  recorded_job job([&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &inside); });
  blocking_lane lane;
  EXPECT_TRUE(lane.try_post(job));
  EXPECT_EQ(job.fate(), job_fate::run);
  for (const int blocked : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGHUP}) {
    EXPECT_EQ(::sigismember(&inside, blocked), 1) << blocked;
  }
  for (const int own : {SIGSEGV, SIGABRT, SIGPROF}) {
    EXPECT_EQ(::sigismember(&inside, own), 0) << own;
  }
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal) {
    EXPECT_EQ(::sigismember(&after, signal), ::sigismember(&before, signal)) << signal;
  }
}

TEST_F(BlockingLane, ThreadsHaveTheirNumberInTheirName) {
  std::array<char, 16> name{};
  recorded_job job([&] { ::pthread_getname_np(::pthread_self(), name.data(), name.size()); });
  blocking_lane lane({.name = "files"});
  EXPECT_TRUE(lane.try_post(job));
  EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_STREQ(name.data(), "files/0");
}

TEST_F(BlockingLane, ThreadsMayUseAllCpusAlsoIfABoundThreadPosts) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  cpu_set_t inside;
  CPU_ZERO(&inside);
  recorded_job job([&] { ::sched_getaffinity(0, sizeof(inside), &inside); });
  blocking_lane lane;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    ::sched_setaffinity(0, sizeof(one), &one);
    EXPECT_TRUE(lane.try_post(job));
  }).join();
  EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_TRUE(CPU_EQUAL(&inside, &all));
}

// --- The end -------------------------------------------------------------------------------------

TEST_F(BlockingLane, DrainingRunsWhatWaitsAndWhatJobsStillPost) {
  recorded_job last;
  held_job held;
  std::deque<recorded_job> waiting(3);
  recorded_job refused;
  std::deque<recorded_job> probes;
  blocking_lane lane({.max_threads = 1, .max_waiting = 1'000'000});
  recorded_job posting([&] {
    EXPECT_FALSE(lane.try_post(refused));
    lane.post(last);
  });
  EXPECT_TRUE(lane.try_post(held.job()));
  for (recorded_job& job : waiting) EXPECT_TRUE(lane.try_post(job));
  EXPECT_TRUE(lane.try_post(posting));
  std::jthread ending([&] { lane.shutdown(shutdown_mode::drain); });
  // It is closing from the first refusal on: there is room for all that come before.
  while (lane.try_post(probes.emplace_back())) std::this_thread::yield();
  held.let_go();
  ending.join();
  for (recorded_job& job : waiting) EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_EQ(last.fate(), job_fate::run);
  EXPECT_EQ(lane.stats().threads, 0U);
}

TEST_F(BlockingLane, CancellingDropsWhatWaitsAndLetsTheRestEnd) {
  held_job held;
  std::deque<recorded_job> waiting(3);
  recorded_job late;
  blocking_lane lane({.max_threads = 1});
  EXPECT_TRUE(lane.try_post(held.job()));
  held.wait_until_it_runs();
  for (recorded_job& job : waiting) EXPECT_TRUE(lane.try_post(job));
  std::jthread ending([&] { lane.shutdown(shutdown_mode::cancel); });
  for (recorded_job& job : waiting) EXPECT_EQ(job.fate(), job_fate::drop);
  lane.post(late);
  EXPECT_EQ(late.fate(), job_fate::drop);
  EXPECT_FALSE(held.job().is_done());
  held.let_go();
  ending.join();
  EXPECT_EQ(held.job().fate(), job_fate::run);
}

TEST_F(BlockingLane, CancellingHastensALaneThatDrains) {
  held_job held;
  recorded_job waiting;
  blocking_lane lane({.max_threads = 1});
  EXPECT_TRUE(lane.try_post(held.job()));
  held.wait_until_it_runs();
  EXPECT_TRUE(lane.try_post(waiting));
  std::jthread draining([&] { lane.shutdown(shutdown_mode::drain); });
  std::jthread cancelling([&] { lane.shutdown(shutdown_mode::cancel); });
  EXPECT_EQ(waiting.fate(), job_fate::drop);
  held.let_go();
}

TEST_F(BlockingLane, ShutdownSendsIdleThreadsHomeAtOnce) {
  recorded_job job;
  blocking_lane lane({.idle_exit = 24h});
  EXPECT_TRUE(lane.try_post(job));
  wait_until_idle(lane, 1);
  lane.shutdown(shutdown_mode::drain);
  EXPECT_EQ(lane.stats().threads, 0U);
  EXPECT_EQ(lane.stats().idle, 0U);
}

TEST_F(BlockingLane, ShutdownAgainDoesNothing) {
  recorded_job refused;
  blocking_lane lane;
  lane.shutdown(shutdown_mode::drain);
  lane.shutdown(shutdown_mode::drain);
  lane.shutdown(shutdown_mode::cancel);
  EXPECT_FALSE(lane.try_post(refused));
  EXPECT_EQ(lane.stats().refused, 1U);
}

TEST_F(BlockingLane, ShutdownByItsOwnJobIsAnError) {
  std::string what;
  blocking_lane lane;
  recorded_job job([&] {
    try {
      lane.shutdown(shutdown_mode::drain);
    } catch (const std::logic_error& error) {
      what = error.what();
    }
  });
  EXPECT_TRUE(lane.try_post(job));
  EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_THAT(what, HasSubstr("call it from outside the lane"));
}

TEST_F(BlockingLane, AfterItsEndWorkThatGoesOnRunsInTheCallerOneAfterAnother) {
  constexpr int count = 10'000;
  std::deque<recorded_job> jobs;
  int done = 0;
  int depth = 0;
  int deepest = 0;
  blocking_lane lane;
  for (int i = 0; i < count; ++i) {
    jobs.emplace_back([&, i] {
      deepest = std::max(deepest, ++depth);
      ++done;
      if (i + 1 < count) lane.post(jobs[static_cast<std::size_t>(i) + 1]);
      --depth;
    });
  }
  lane.shutdown(shutdown_mode::drain);
  lane.post(jobs[0]);
  EXPECT_EQ(done, count);
  EXPECT_EQ(deepest, 1);
  EXPECT_EQ(lane.stats().started_total, 0U);
  EXPECT_EQ(lane.stats().run_by_callers, 10'000U);
}

TEST(BlockingLaneDeathTest, CannotBeDestroyedByItsOwnJob) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto lane = std::make_unique<blocking_lane>();
        recorded_job job([&] { lane.reset(); });
        static_cast<void>(lane->try_post(job));
        static_cast<void>(job.fate());
      },
      "destroyed by one of its own jobs");
}

// --- Fork ----------------------------------------------------------------------------------------

// Runs f in a forked child, returns the exit code or -1.
int in_child(const std::function<bool()>& f) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs is killed
    ::_exit(f() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(BlockingLane, InAForkedChildItRefusesDropsAndEndsWithoutItsThreads) {
  recorded_job job;
  auto lane = std::make_unique<blocking_lane>();
  EXPECT_TRUE(lane->try_post(job));
  wait_until_idle(*lane, 1);
  EXPECT_EQ(in_child([&] {
              recorded_job refused;
              recorded_job dropped;
              const bool was_refused = !lane->try_post(refused);
              lane->post(dropped);
              lane->shutdown(shutdown_mode::drain);
              const bool is_empty = lane->stats().threads == 0;
              lane.reset();
              return was_refused && dropped.fate() == job_fate::drop && is_empty;
            }),
            0);
}

TEST_F(BlockingLane, JobThatForksIsNoJobOfTheLaneInTheChild) {
  int code = -1;
  blocking_lane lane;
  recorded_job job([&] { code = in_child([&] { return !lane.is_here(); }); });
  EXPECT_TRUE(lane.try_post(job));
  EXPECT_EQ(job.fate(), job_fate::run);
  EXPECT_EQ(code, 0);
}

// --- Options -------------------------------------------------------------------------------------

std::string problem_with(blocking_lane_options options) {
  try {
    const blocking_lane lane(std::move(options));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(BlockingLaneOptions, OutOfRangeAreRefusedWithFieldValueAndRange) {
  EXPECT_EQ(problem_with({.max_threads = 0}),
            "weft: blocking_lane_options::max_threads is 0, but must be between 1 and 4096");
  EXPECT_THAT(problem_with({.max_threads = 4097}), HasSubstr("max_threads is 4097"));
  EXPECT_EQ(problem_with({.idle_exit = -1ms}),
            "weft: blocking_lane_options::idle_exit is -1 ms, but must be between 0 and 86400000 "
            "ms");
  EXPECT_THAT(problem_with({.idle_exit = 25h}), HasSubstr("idle_exit is 90000000 ms"));
  EXPECT_EQ(problem_with({.max_threads = 4096, .max_waiting = 0, .idle_exit = 24h}), "");
}

// --- Many at once --------------------------------------------------------------------------------

struct stress_case {
  std::chrono::milliseconds idle_exit;
  shutdown_mode end;
};

class BlockingLaneStress : public ::testing::TestWithParam<stress_case> {};

TEST_P(BlockingLaneStress, EveryJobThatEightProducersGotAcceptedIsCalledOnce) {
  test::watchdog guard(120s);
  const std::uint64_t seed = test::announced_seed();
  const int rounds = test::rounds(40);
  for (int round = 0; round < rounds; ++round) {
    constexpr std::size_t producers = 8;
    constexpr std::size_t each = 200;
    std::vector<std::deque<recorded_job>> jobs(producers);
    std::vector<std::vector<bool>> accepted(producers);
    for (auto& own : jobs) own.resize(each);
    blocking_lane lane({.max_threads = 3, .max_waiting = 16, .idle_exit = GetParam().idle_exit});
    {
      std::latch begin(producers + 1);
      std::vector<std::jthread> threads;
      for (std::size_t p = 0; p < producers; ++p) {
        threads.emplace_back([&, p] {
          std::mt19937_64 random(seed + static_cast<std::uint64_t>(round) * producers + p);
          begin.arrive_and_wait();
          for (recorded_job& job : jobs[p]) {
            if (random() % 4 == 0) {
              lane.post(job);
              accepted[p].push_back(true);
            } else {
              accepted[p].push_back(lane.try_post(job));
            }
          }
        });
      }
      begin.arrive_and_wait();
      if (round % 2 == 0) lane.shutdown(GetParam().end);  // while they are at it
    }
    lane.shutdown(GetParam().end);
    for (std::size_t p = 0; p < producers; ++p) {
      for (std::size_t i = 0; i < each; ++i) {
        ASSERT_EQ(jobs[p][i].is_done(), accepted[p][i]) << "producer " << p << ", job " << i;
        if (accepted[p][i] && GetParam().end == shutdown_mode::drain) {
          ASSERT_EQ(jobs[p][i].fate(), job_fate::run);
        }
      }
    }
    const blocking_lane_stats stats = lane.stats();
    ASSERT_EQ(stats.threads, 0U);
    ASSERT_EQ(stats.running, 0U);
    ASSERT_EQ(stats.waiting, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, BlockingLaneStress,
                         ::testing::Values(stress_case{0ms, shutdown_mode::drain},
                                           stress_case{10s, shutdown_mode::drain},
                                           stress_case{0ms, shutdown_mode::cancel}));

}  // namespace
}  // namespace weft::io
