// A blocking lane to which the system refuses threads. This program has a pthread_create of its
// own, which fails when told to.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <latch>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <weft/io/blocking_lane.hpp>

#include <support/real_pthread_create.hpp>
#include <support/watchdog.hpp>
#include "io/recorded_job.hpp"

namespace {
std::atomic<bool> system_refuses{false};
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  if (system_refuses) return EAGAIN;
  return weft::test::real_pthread_create()(thread, attributes, start, argument);
}

namespace weft::io {
namespace {

using namespace std::chrono_literals;
using detail::job_fate;
using test::recorded_job;

class WithoutThreads : public ::testing::Test {
 protected:
  ~WithoutThreads() override { system_refuses = false; }

  test::watchdog guard{60s};
};

TEST_F(WithoutThreads, TryPostRefuses) {
  recorded_job job;
  blocking_lane lane;
  system_refuses = true;
  EXPECT_FALSE(lane.try_post(job));
  EXPECT_EQ(lane.stats().refused, 1U);
  EXPECT_EQ(lane.stats().threads, 0U);
  system_refuses = false;
  EXPECT_TRUE(lane.try_post(job));
  EXPECT_EQ(job.fate(), job_fate::run);
}

TEST_F(WithoutThreads, PostRunsTheJobAndThoseItPostsInTheCallerOneAfterAnother) {
  constexpr int count = 1000;
  std::deque<recorded_job> jobs;
  int depth = 0;
  int deepest = 0;
  bool always_here = true;
  blocking_lane lane;
  for (int i = 0; i < count; ++i) {
    jobs.emplace_back([&, i] {
      deepest = std::max(deepest, ++depth);
      always_here = always_here && lane.is_here();
      if (i + 1 < count) lane.post(jobs[static_cast<std::size_t>(i) + 1]);
      --depth;
    });
  }
  system_refuses = true;
  lane.post(jobs[0]);
  EXPECT_TRUE(jobs.back().is_done());
  EXPECT_EQ(deepest, 1);
  EXPECT_TRUE(always_here);
  EXPECT_FALSE(lane.is_here());
  EXPECT_EQ(lane.stats().run_by_callers, 1000U);
  EXPECT_EQ(lane.stats().running, 0U);
}

TEST_F(WithoutThreads, CallerLeavesTheRestToAThreadAsSoonAsThereIsOne) {
  std::thread::id second_ran_on;
  recorded_job second([&] { second_ran_on = std::this_thread::get_id(); });
  blocking_lane lane;
  recorded_job first([&] {
    lane.post(second);
    system_refuses = false;
  });
  system_refuses = true;
  lane.post(first);
  EXPECT_EQ(second.fate(), job_fate::run);
  EXPECT_NE(second_ran_on, std::this_thread::get_id());
  EXPECT_EQ(lane.stats().run_by_callers, 1U);
}

TEST_F(WithoutThreads, JobsWaitForAThreadThatExists) {
  std::latch begun(1);
  std::latch go(1);
  recorded_job held([&] {
    begun.count_down();
    go.wait();
  });
  recorded_job other;
  recorded_job accepted;
  blocking_lane lane;
  EXPECT_TRUE(lane.try_post(held));
  begun.wait();
  system_refuses = true;
  EXPECT_TRUE(lane.try_post(other));
  lane.post(accepted);
  EXPECT_EQ(lane.stats().waiting, 2U);
  go.count_down();
  EXPECT_EQ(other.fate(), job_fate::run);
  EXPECT_EQ(accepted.fate(), job_fate::run);
  EXPECT_EQ(lane.stats().started_total, 1U);
}

TEST_F(WithoutThreads, JobsThatWaitGetAThreadWhenTheSystemHasOneAgain) {
  std::latch begun(1);
  std::latch go(1);
  recorded_job held([&] {
    begun.count_down();
    go.wait();
  });
  recorded_job waiting;
  recorded_job next([&] { static_cast<void>(waiting.fate()); });  // keeps its thread until then
  blocking_lane lane;
  EXPECT_TRUE(lane.try_post(held));
  begun.wait();
  system_refuses = true;
  EXPECT_TRUE(lane.try_post(waiting));
  system_refuses = false;
  EXPECT_TRUE(lane.try_post(next));
  EXPECT_EQ(waiting.fate(), job_fate::run);  // although both threads are held
  EXPECT_EQ(next.fate(), job_fate::run);
  EXPECT_EQ(lane.stats().started_total, 3U);
  go.count_down();
}

TEST_F(WithoutThreads, ShutdownWaitsForACallerThatStandsInAndIsAnErrorInside) {
  std::latch begun(1);
  std::latch go(1);
  bool refused = false;
  blocking_lane lane;
  recorded_job job([&] {
    try {
      lane.shutdown(shutdown_mode::drain);
    } catch (const std::logic_error&) {
      refused = true;
    }
    begun.count_down();
    go.wait();
  });
  std::latch ready(2);
  std::latch proceed(1);
  std::jthread caller([&] {
    ready.count_down();
    proceed.wait();
    lane.post(job);
  });
  std::jthread ending([&] {
    ready.count_down();
    begun.wait();
    lane.shutdown(shutdown_mode::drain);
    EXPECT_TRUE(job.is_done());
  });
  ready.wait();
  system_refuses = true;
  proceed.count_down();
  begun.wait();
  go.count_down();
  ending.join();
  caller.join();
  EXPECT_TRUE(refused);
  EXPECT_EQ(lane.stats().run_by_callers, 1U);
}

}  // namespace
}  // namespace weft::io
