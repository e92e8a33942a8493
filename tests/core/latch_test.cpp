#include <weft/core/latch.hpp>

#include <memory>
#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include <support/scale.hpp>

namespace weft::detail {
namespace {

struct counting_waiter : waiter {
  int wakes = 0;
  void wake() noexcept override { ++wakes; }
};

TEST(Latch, NewOneIsNotSet) { EXPECT_FALSE(latch().is_set()); }

TEST(Latch, StaysSet) {
  latch l;
  l.set();
  EXPECT_TRUE(l.is_set());
  EXPECT_TRUE(l.is_set());
}

TEST(Latch, WakesTheWaiterOnce) {
  latch l;
  counting_waiter w;
  EXPECT_TRUE(l.try_register(w));
  EXPECT_FALSE(l.is_set());
  l.set();
  EXPECT_TRUE(l.is_set());
  EXPECT_EQ(w.wakes, 1);
}

TEST(Latch, SetBeforehandRefusesTheWaiter) {
  latch l;
  counting_waiter w;
  l.set();
  EXPECT_FALSE(l.try_register(w));
  EXPECT_EQ(w.wakes, 0);
}

TEST(Latch, WaiterThatLeftIsNotWoken) {
  latch l;
  counting_waiter w;
  EXPECT_TRUE(l.try_register(w));
  EXPECT_TRUE(l.try_unregister(w));
  l.set();
  EXPECT_EQ(w.wakes, 0);
}

TEST(Latch, WaiterThatComesTooLateToLeaveIsTold) {
  latch l;
  counting_waiter w;
  EXPECT_TRUE(l.try_register(w));
  l.set();
  EXPECT_FALSE(l.try_unregister(w));
  EXPECT_EQ(w.wakes, 1);
}

TEST(Latch, WaiterMayDestroyTheLatchWhileItIsBeingSet) {
  struct destroyer : waiter {
    std::unique_ptr<latch> l = std::make_unique<latch>();
    void wake() noexcept override { l.reset(); }
  };
  destroyer w;
  EXPECT_TRUE(w.l->try_register(w));
  w.l->set();
  EXPECT_EQ(w.l, nullptr);
}

// The address is dead as soon as is_set() is true: a setter that looked back would be caught by the
// address sanitizer here.
TEST(Latch, PollingWaiterMayDestroyItWhileItIsBeingSet) {
  std::binary_semaphore go(0);
  std::atomic<latch*> shared{nullptr};
  const int rounds = test::rounds(50'000);
  std::jthread setter([&] {
    for (int i = 0; i < rounds; ++i) {
      go.acquire();
      shared.load()->set();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    auto l = std::make_unique<latch>();
    shared = l.get();
    go.release();
    while (!l->is_set()) std::this_thread::yield();
  }
}

TEST(Latch, ShowsWhatHappenedBeforeItWasSet) {
  const int rounds = test::rounds(20'000);
  for (int i = 0; i < rounds; ++i) {
    latch l;
    int plain = 0;
    std::jthread setter([&] {
      plain = i;
      l.set();
    });
    while (!l.is_set()) std::this_thread::yield();
    ASSERT_EQ(plain, i);
  }
}

}  // namespace
}  // namespace weft::detail
