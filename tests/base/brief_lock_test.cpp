#include <weft/base/brief_lock.hpp>

#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(BriefLock, HoldsTheMutexUntilItGoes) {
  std::mutex m;
  {
    const auto lock = detail::lock_briefly(m);
    EXPECT_TRUE(lock.owns_lock());
    std::jthread other([&] { EXPECT_FALSE(m.try_lock()); });
  }
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(BriefLock, LetsOneInAtATime) {
  constexpr int each = 20'000;
  constexpr int threads = 4;
  std::mutex m;
  int count = 0;  // a data race if there were two
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          const auto lock = detail::lock_briefly(m);
          ++count;
        }
      });
    }
  }
  EXPECT_EQ(count, each * threads);
}

// Who waits spins at first; the holder gives way more often than that takes.
TEST(BriefLock, WaitsForOneThatIsHeldLong) {
  std::mutex m;
  std::latch waits(1);
  bool has_ended = false;
  std::unique_lock held(m);
  std::jthread waiter([&] {
    waits.count_down();
    const auto lock = detail::lock_briefly(m);
    EXPECT_TRUE(has_ended);
  });
  waits.wait();
  for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
  has_ended = true;
  held.unlock();
}

}  // namespace
}  // namespace weft
