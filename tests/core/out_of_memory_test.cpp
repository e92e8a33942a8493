// What happens when memory runs out. This program has an operator new of its own, which fails at
// the n-th call, on whatever thread; each test tries every n until one run gets through.

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>
#include <weft/core/when.hpp>

#include <support/watchdog.hpp>

namespace {

std::atomic<long> allocations_until_failure{0};  // 0: never fails
std::atomic<long> live_allocations{0};

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocations_until_failure.load(std::memory_order_relaxed) > 0 &&
      allocations_until_failure.fetch_sub(1) == 1) {
    return nullptr;
  }
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory != nullptr) ++live_allocations;
  return memory;
}

void deallocate(void* memory) noexcept {
  if (memory == nullptr) return;
  --live_allocations;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = allocate(size, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*a*/) noexcept {
  deallocate(memory);
}

namespace weft {
namespace {

// Runs `attempt` with the first, second, third ... allocation failing, until none does. Returns how
// many attempts failed.
int fail_each_allocation(const std::function<void()>& attempt) {
  for (long n = 1;; ++n) {
    bool threw = false;
    allocations_until_failure = n;
    try {
      attempt();
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    const bool used = allocations_until_failure.exchange(0) <= 0;
    if (!used) {
      EXPECT_FALSE(threw);
      return static_cast<int>(n - 1);
    }
  }
}

TEST(OutOfMemory, APoolIsMadeOrItIsNotAndNothingLeaks) {
  const std::string long_name(200, 'x');  // longer than a string keeps without allocating
  auto use_a_pool = [&] {
    pool p({.workers = 3, .name = long_name});
    p.resize(5);
  };
  use_a_pool();  // what the first use of a process allocates for good
  const long before = live_allocations;
  EXPECT_GT(fail_each_allocation(use_a_pool), 5);
  EXPECT_EQ(live_allocations, before);
}

TEST(OutOfMemory, ResizeFailsAsAWholeAndThePoolGoesOn) {
  const int failures = fail_each_allocation([] {
    const long armed = allocations_until_failure.exchange(0);
    pool p({.workers = 1});
    allocations_until_failure = armed;
    try {
      p.resize(4);
    } catch (const std::bad_alloc&) {
      allocations_until_failure = 0;
      EXPECT_EQ(p.workers(), 1U);
      EXPECT_EQ(p.submit([] { return 7; }).get(), 7);
      p.resize(4);
      EXPECT_EQ(p.workers(), 4U);
      throw;
    }
  });
  EXPECT_GT(failures, 3);
}

// Every job that was accepted runs, and every other one was refused by an exception.
void spawn_until_it_fails(pool& p, unsigned jobs) {
  std::atomic<unsigned> ran{0};
  unsigned accepted = 0;
  bool failed = false;
  try {
    task_group group(p);
    try {
      for (; accepted < jobs; ++accepted) group.spawn([&] { ++ran; });
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    group.wait();
  } catch (const std::bad_alloc&) {  // the group itself
    failed = true;
  }
  EXPECT_EQ(ran, accepted);
  if (failed) throw std::bad_alloc();
}

TEST(OutOfMemory, AGroupFromOutsideLosesNoAcceptedJob) {
  pool p({.workers = 2});
  fail_each_allocation([&] { spawn_until_it_fails(p, 300); });
}

TEST(OutOfMemory, AGroupInsideThePoolLosesNoAcceptedJobAlsoWhenTheDequeCannotGrow) {
  pool p({.workers = 2});
  fail_each_allocation([&] { p.run([&] { spawn_until_it_fails(p, 1000); }); });
}

TEST(OutOfMemory, SubmitThrowsOrItsFutureGetsTheResult) {
  pool p({.workers = 2});
  fail_each_allocation([&] {
    auto sum = p.submit([] { return std::string(100, 'a'); }).then([](const std::string& s) {
      return s + s;
    });
    EXPECT_EQ(sum.get().size(), 200U);
  });
}

TEST(OutOfMemory, WhenAllThrowsOrGivesEveryResult) {
  pool p({.workers = 2});
  const std::vector<int> expected{0, 1, 2, 3};
  fail_each_allocation([&] {
    std::vector<future<int>> futures;
    for (int i = 0; i < 4; ++i) futures.push_back(p.submit([i] { return i; }));
    EXPECT_TRUE(when_all(std::move(futures)).get() == expected);  // not a matcher: those leak then
  });
}

int depth_of_forks(int depth) {
  if (depth == 0) return 0;
  const auto [left, right] = join([=] { return depth_of_forks(depth - 1) + 1; }, [] { return 0; });
  return left + right;
}

TEST(OutOfMemory, ForksThatFitTheDequeNeedNoMemory) {
  pool p({.workers = 2});
  p.run([] {
    allocations_until_failure = 1;
    EXPECT_EQ(depth_of_forks(60), 60);
    EXPECT_EQ(allocations_until_failure.exchange(0), 1);
  });
}

TEST(OutOfMemoryDeathTest, AForkThatCannotBeStoredEndsTheProgramWithAMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        pool p({.workers = 1});
        p.run([] {
          allocations_until_failure = 1;
          depth_of_forks(1000);
        });
      },
      "no memory for another fork");
}

TEST(OutOfMemory, ACancelledGroupReportsItWithoutMemory) {
  pool p({.workers = 2});
  task_group group(p);
  group.request_stop();
  for (int i = 0; i < 10; ++i) group.spawn([] { ADD_FAILURE() << "was cancelled"; });
  allocations_until_failure = 1;
  EXPECT_THROW(group.wait(), cancelled);
  allocations_until_failure = 0;
}

}  // namespace
}  // namespace weft
