// Pools that are made and destroyed again and again: the moments at which others have hung.

#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <weft/core/join.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>

#include <support/scale.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(LifetimeStress, CreateRunDestroy) {
  const test::watchdog guard(240s);
  for (int i = 0; i < test::rounds(100'000); ++i) {
    std::atomic<int> ran{0};
    {
      pool p({.workers = 2});
      for (int k = 0; k < 17; ++k) p.spawn([&] { ++ran; });
    }
    ASSERT_EQ(ran, 17) << "round " << i;
  }
}

TEST(LifetimeStress, CreateRunDestroyWithoutWork) {
  const test::watchdog guard(120s);
  for (int i = 0; i < test::rounds(20'000); ++i) pool p({.workers = 3});
}

TEST(LifetimeStress, DestroyRightAfterTheFutureIsReady) {
  const test::watchdog guard(240s);
  for (int i = 0; i < test::rounds(100'000); ++i) {
    pool p({.workers = 1});
    ASSERT_EQ(p.submit([i] { return i; }).get(), i);
  }
}

// The job's last act lets a thread go that destroys the pool at once.
TEST(LifetimeStress, DestroyedByTheThreadThatAJobReleases) {
  const test::watchdog guard(240s);
  for (int i = 0; i < test::rounds(20'000); ++i) {
    auto p = std::make_unique<pool>(pool_options{.workers = 2});
    std::latch released(1);
    p->spawn([&] { released.count_down(); });
    std::jthread destroyer([&] {
      released.wait();
      p.reset();
    });
  }
}

TEST(LifetimeStress, DestroyedRightAfterRunReturns) {
  const test::watchdog guard(240s);
  for (int i = 0; i < test::rounds(50'000); ++i) {
    pool p({.workers = 2});
    p.run([] { join([] {}, [] {}); });
  }
}

TEST(LifetimeStress, DestroyedRightAfterAGroupIsDone) {
  const test::watchdog guard(240s);
  for (int i = 0; i < test::rounds(30'000); ++i) {
    pool p({.workers = 2});
    task_group g(p);
    g.spawn([] {});
    g.spawn([] {});
    g.wait();
  }
}

TEST(LifetimeStress, TreeOfJobsThenTheDestructor) {
  const test::watchdog guard(120s);
  constexpr int depth = test::under_sanitizer ? 15 : 22;
  std::atomic<int> ran{0};
  {
    auto tree = [&](auto& self, int left) -> void {
      ran.fetch_add(1, std::memory_order_relaxed);
      if (left == 0) return;
      for (int i = 0; i < 2; ++i) pool::current()->spawn([&self, left] { self(self, left - 1); });
    };
    std::latch started(1);
    pool p({.workers = 2});  // after what its jobs use: it waits for them
    p.spawn([&] { tree(tree, depth); });
    p.spawn([&] { started.count_down(); });
    started.wait();
  }
  EXPECT_EQ(ran, (1 << (depth + 1)) - 1);
}

}  // namespace
}  // namespace weft

// With --one-cpu the whole program runs on one CPU, where a thread that spins keeps others waiting.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string(argv[1]) == "--one-cpu") {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    if (::sched_setaffinity(0, sizeof(one), &one) != 0) return EXIT_FAILURE;
  }
  return RUN_ALL_TESTS();
}
