#include <weft/core/limiter.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

#include <weft/weft.hpp>

namespace weft {
namespace {

TEST(Limiter, GivesAsManyPermitsAsItsLimit) {
  limiter two(2);
  auto a = two.try_acquire();
  auto b = two.try_acquire();
  EXPECT_TRUE(a);
  EXPECT_TRUE(b);
  EXPECT_FALSE(two.try_acquire());
  EXPECT_EQ(two.in_use(), 2U);
}

TEST(Limiter, PermitGivesItselfBack) {
  limiter one(1);
  {
    const auto permit = one.acquire();
  }
  EXPECT_EQ(one.in_use(), 0U);
  EXPECT_TRUE(one.try_acquire());
}

TEST(Limiter, CallbacksAreServedInTheOrderTheyCame) {
  limiter one(1);
  std::vector<int> order;
  auto held = one.acquire();
  for (int i = 0; i < 3; ++i) {
    one.acquire([&order, i](limiter::permit) { order.push_back(i); });
  }
  EXPECT_EQ(one.waiting(), 3U);
  held = {};
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  EXPECT_EQ(one.in_use(), 0U);
}

TEST(Limiter, NobodyOvertakesThoseWhoWait) {
  limiter none(0);
  bool called = false;
  none.acquire([&called](limiter::permit) { called = true; });
  EXPECT_FALSE(none.try_acquire());
  none.set_limit(1);
  EXPECT_TRUE(called);
}

TEST(Limiter, LoweredLimitTakesEffectAsPermitsComeBack) {
  limiter two(2);
  auto a = two.acquire();
  auto b = two.acquire();
  two.set_limit(1);
  a = {};
  EXPECT_FALSE(two.try_acquire());
  b = {};
  EXPECT_TRUE(two.try_acquire());
}

// A waiting job that began another one which wants a permit too would bury its own grant.
TEST(Limiter, JobsOfAPoolNeverHoldMoreThanTheLimit) {
  pool p({.workers = 3});
  limiter two(2);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  {
    task_group g(p);
    for (int i = 0; i < 300; ++i) {
      g.spawn([&] {
        const auto permit = two.acquire();
        const int now = ++inside;
        int seen = most.load();
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        --inside;
        ++done;
      });
    }
    g.wait();
  }
  EXPECT_EQ(done, 300);
  EXPECT_LE(most, 2);
}

using LimiterDeathTest = ::testing::Test;

TEST(LimiterDeathTest, DestroyedWhileAPermitIsOutAborts) {
  EXPECT_DEATH(
      {
        auto* l = new limiter(1);
        auto permit = l->acquire();
        delete l;
      },
      "outlive everything it limits");
}

TEST(Limiter, LongQueueOfCallbacksIsServedWithoutRecursion) {
  limiter one(1);
  int served = 0;
  constexpr int count = 1'000'000;
  {
    const auto held = one.acquire();
    for (int i = 0; i < count; ++i) one.acquire([&](limiter::permit) { ++served; });
  }
  EXPECT_EQ(served, count);
}

TEST(Limiter, AssigningAPermitGivesTheOldOneBackAtOnce) {
  limiter two(2);
  auto a = two.acquire();
  auto b = two.acquire();
  a = std::move(b);
  EXPECT_EQ(two.in_use(), 1U);
  EXPECT_TRUE(a);
  EXPECT_FALSE(b);  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace weft
