#include <weft/core/bell.hpp>

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <support/scale.hpp>

namespace weft::detail {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(Bell, RingThatComesFirstIsNotLost) {
  bell b;
  b.ring(7);
  EXPECT_EQ(b.wait(), 7U);
}

TEST(Bell, CanBeRungAgainAfterTheWait) {
  bell b;
  for (bell::message m = 1; m < 100; ++m) {
    b.ring(m);
    ASSERT_EQ(b.wait(), m);
  }
}

TEST(Bell, SilentOneGivesNothingWhenTheTimeIsUp) {
  bell b;
  EXPECT_FALSE(b.wait_until(steady_clock::now()).has_value());
  EXPECT_FALSE(b.wait_until(steady_clock::now() - 1h).has_value());
  EXPECT_FALSE(b.wait_until(steady_clock::now() + 1ms).has_value());
  EXPECT_FALSE(b.wait_until(steady_clock::time_point()).has_value());
}

TEST(Bell, DeadlineBeforeTheClockBeganIsOver) {
  bell b;
  EXPECT_FALSE(b.wait_until(steady_clock::time_point() - 1ns).has_value());
  EXPECT_FALSE(b.wait_until(steady_clock::time_point::min()).has_value());
}

TEST(Bell, RingBeatsADeadlineThatIsOver) {
  bell b;
  b.ring(3);
  EXPECT_EQ(b.wait_until(steady_clock::now() - 1s), bell::message{3});
}

TEST(Bell, WakesTheThreadThatWaitsForAYear) {
  bell b;
  std::jthread ringer([&] { b.ring(5); });
  EXPECT_EQ(b.wait_until(steady_clock::now() + 8760h), bell::message{5});
}

TEST(Bell, WakesTheThreadThatWaitsForEver) {
  bell b;
  std::jthread ringer([&] { b.ring(5); });
  EXPECT_EQ(b.wait_until(steady_clock::time_point::max()), bell::message{5});
}

TEST(Bell, TwoThreadsPassMessagesBackAndForth) {
  bell there;
  bell back;
  const auto rounds = static_cast<bell::message>(test::rounds(100'000));
  std::jthread other([&] {
    for (bell::message m = 1; m <= rounds; ++m) {
      EXPECT_EQ(there.wait(), m);
      back.ring(m);
    }
  });
  for (bell::message m = 1; m <= rounds; ++m) {
    there.ring(m);
    ASSERT_EQ(back.wait(), m);
  }
}

TEST(Bell, MayBeDestroyedAsSoonAsTheWaitIsOver) {
  for (int i = 0; i < test::rounds(5'000); ++i) {
    auto b = std::make_unique<bell>();
    std::jthread ringer([p = b.get()] { p->ring(1); });
    b->wait();
    b.reset();
  }
}

}  // namespace
}  // namespace weft::detail
