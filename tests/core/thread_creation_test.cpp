// A pool whose threads cannot all be created. This program has a pthread_create of its own, which
// fails when told to.

#include <atomic>
#include <cerrno>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/core/pool.hpp>

#include <support/real_pthread_create.hpp>
#include <support/watchdog.hpp>

namespace {
std::atomic<int> creations_until_failure{0};  // 0: never fails
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  if (creations_until_failure > 0 && --creations_until_failure == 0) return EAGAIN;
  return weft::test::real_pthread_create()(thread, attributes, start, argument);
}

namespace weft {
namespace {

struct thread_count {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  pool_options options(unsigned workers) {
    return {.workers = workers,
            .on_thread_start = [this](unsigned) { ++started; },
            .on_thread_stop = [this](unsigned) { ++stopped; }};
  }
};

TEST(ThreadCreation, FailureInTheConstructorIsReportedAndTheStartedThreadsAreGone) {
  for (int n = 1; n <= 8; ++n) {
    thread_count threads;
    creations_until_failure = n;
    try {
      pool p(threads.options(8));
      FAIL() << "thread " << n << " could not be created";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
      EXPECT_THAT(e.what(), ::testing::HasSubstr("worker thread " + std::to_string(n)));
    }
    EXPECT_EQ(threads.started, n - 1);
    EXPECT_EQ(threads.stopped, n - 1);
  }
}

TEST(ThreadCreation, SucceedsAfterAFailure) {
  creations_until_failure = 2;
  EXPECT_THROW(pool({.workers = 4}), std::system_error);
  pool p({.workers = 4});
  EXPECT_EQ(p.submit([] { return 1; }).get(), 1);
}

TEST(ThreadCreation, FailureInResizeLeavesThePoolAsItWas) {
  for (int n = 1; n <= 4; ++n) {
    thread_count threads;
    {
      pool p(threads.options(2));
      creations_until_failure = n;
      EXPECT_THROW(p.resize(6), std::system_error);
      EXPECT_EQ(p.workers(), 2U);
      EXPECT_EQ(p.submit([] { return 1; }).get(), 1);
      p.resize(6);
      EXPECT_EQ(p.workers(), 6U);
      EXPECT_EQ(p.submit([] { return 1; }).get(), 1);
    }
    EXPECT_EQ(threads.started, 6);
    EXPECT_EQ(threads.stopped, 6);
  }
}

}  // namespace
}  // namespace weft
