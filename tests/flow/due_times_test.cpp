#include <weft/flow/due_times.hpp>

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::flow {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const due_times::time_point start{};

TEST(DueTimes, WithoutLimitsNothingIsDue) {
  due_times times;
  times.started({.index = 0, .number = 1}, start);
  EXPECT_EQ(times.next(), std::nullopt);
}

TEST(DueTimes, AttemptsAreDueInTheOrderOfTheirStart) {
  due_times times(start, 10s, std::nullopt);
  times.started({.index = 0, .number = 1}, start);
  times.started({.index = 1, .number = 1}, start + 3s);
  EXPECT_EQ(times.next(), start + 10s);
  EXPECT_THAT(times.take(start + 9s).too_long, IsEmpty());
  EXPECT_THAT(times.take(start + 10s).too_long,
              ElementsAre(due_times::attempt{.index = 0, .number = 1}));
  EXPECT_EQ(times.next(), start + 13s);
}

TEST(DueTimes, RestsAreDueByTimeAndThenByIndex) {
  due_times times;
  times.rests(5, start, 2s);
  times.rests(1, start, 3s);
  times.rests(4, start, 2s);
  EXPECT_EQ(times.next(), start + 2s);
  EXPECT_THAT(times.take(start + 3s).rested, ElementsAre(4, 5, 1));
  EXPECT_EQ(times.next(), std::nullopt);
}

TEST(DueTimes, TheTotalIsDueOnce) {
  due_times times(start, std::nullopt, 1min);
  EXPECT_EQ(times.next(), start + 1min);
  EXPECT_FALSE(times.take(start + 59s).total);
  EXPECT_TRUE(times.take(start + 60s).total);
  EXPECT_EQ(times.next(), std::nullopt);
  EXPECT_FALSE(times.take(start + 2min).total);
}

TEST(DueTimes, TheEarliestOfAllIsNext) {
  due_times times(start, 10s, 1min);
  times.started({.index = 0, .number = 1}, start + 5s);
  times.rests(1, start, 7s);
  EXPECT_EQ(times.next(), start + 7s);
  times.clear();
  EXPECT_EQ(times.next(), std::nullopt);
}

TEST(DueTimes, LimitsBeyondTheClockMeanNever) {
  due_times times(start + 1h, std::chrono::nanoseconds::max(), std::chrono::nanoseconds::max());
  times.started({.index = 0, .number = 1}, start + 2h);
  EXPECT_EQ(times.next(), due_times::time_point::max());
}

TEST(DueTimes, RestsBeyondTheClockLastForEver) {
  due_times times;
  times.rests(0, start + 1h, std::chrono::nanoseconds::max());
  EXPECT_EQ(times.next(), due_times::time_point::max());
}

}  // namespace
}  // namespace weft::flow
