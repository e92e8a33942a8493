#include <weft/coro/timer_wheel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/property.hpp>

namespace weft::coro {
namespace {

using namespace std::chrono_literals;
using time_point = timer_wheel::time_point;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr time_point epoch{};

constexpr timer_wheel::ticks operator""_ticks(unsigned long long count) {
  return timer_wheel::ticks(static_cast<std::int64_t>(count));
}

struct numbered_timer : timer_node {
  explicit numbered_timer(int n) : number(n) {}
  int number;
};

std::vector<int> numbers_of(const timer_node* fired) {
  std::vector<int> numbers;
  for (; fired != nullptr; fired = fired->next) {
    EXPECT_FALSE(timer_wheel::contains(*fired));
    numbers.push_back(static_cast<const numbered_timer*>(fired)->number);
  }
  return numbers;
}

// --- When a timer fires --------------------------------------------------------------------------

struct firing_case {
  const char* name;
  time_point start;
  time_point due;
  time_point fires;
};

void PrintTo(const firing_case& which, std::ostream* out) { *out << which.name; }

class TimerFires : public ::testing::TestWithParam<firing_case> {};

TEST_P(TimerFires, AtItsTickAndNotBefore) {
  const auto& [name, start, due, fires] = GetParam();
  timer_wheel wheel(start);
  numbered_timer timer(1);
  wheel.add(timer, due);
  EXPECT_TRUE(timer_wheel::contains(timer));
  ASSERT_TRUE(wheel.next_due().has_value());
  EXPECT_LE(*wheel.next_due(), fires);
  if (fires > start) {
    EXPECT_THAT(numbers_of(wheel.advance(fires - 1ns)), IsEmpty());
  }
  EXPECT_THAT(numbers_of(wheel.advance(fires)), ElementsAre(1));
  EXPECT_TRUE(wheel.empty());
  EXPECT_FALSE(wheel.next_due().has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Table, TimerFires,
    ::testing::Values(
        firing_case{"in a tick", epoch, epoch + 1_ticks, epoch + 1_ticks},
        firing_case{"rounded up", epoch, epoch + 1ns, epoch + 1_ticks},
        firing_case{"rounded up by little", epoch, epoch + 2_ticks - 1ns, epoch + 2_ticks},
        firing_case{"now", epoch + 5_ticks, epoch + 5_ticks, epoch + 5_ticks},
        firing_case{"within the present tick", epoch + 5_ticks, epoch + 5_ticks + 1ns,
                    epoch + 6_ticks},
        firing_case{"in the past", epoch + 5_ticks, epoch + 1_ticks, epoch + 5_ticks},
        firing_case{"before the epoch of the clock", epoch, epoch - 1h, epoch},
        firing_case{"at the begin of time", epoch, time_point::min(), epoch},
        firing_case{"last slot of the first level", epoch, epoch + 63_ticks, epoch + 63_ticks},
        firing_case{"first slot of the second", epoch, epoch + 64_ticks, epoch + 64_ticks},
        firing_case{"inside a slot of the second", epoch, epoch + 100_ticks, epoch + 100_ticks},
        firing_case{"across a border soon", epoch + 63_ticks, epoch + 65_ticks, epoch + 65_ticks},
        firing_case{"across all borders", epoch + 4095_ticks, epoch + 4096_ticks,
                    epoch + 4096_ticks},
        firing_case{"a day", epoch + 24h, epoch + 48h, epoch + 48h},
        firing_case{"ten years", epoch + 7h, epoch + 87600h, epoch + 87600h}),
    [](const auto& which) {
      std::string name = which.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(TimerWheel, TheEndOfTimeIsATimeLikeAnyOther) {
  timer_wheel wheel(epoch + 1h);
  numbered_timer last(1);
  wheel.add(last, time_point::max());
  ASSERT_TRUE(wheel.next_due().has_value());
  EXPECT_GT(*wheel.next_due(), epoch + 1h);
  EXPECT_THAT(numbers_of(wheel.advance(epoch + 1'000'000h)), IsEmpty());
  // Its tick begins after the last instant that can be told.
  EXPECT_THAT(numbers_of(wheel.advance(time_point::max())), IsEmpty());
  EXPECT_EQ(wheel.next_due(), time_point::max());
  wheel.remove(last);
  EXPECT_TRUE(wheel.empty());
}

TEST(TimerWheel, IsExactAboutItsNextTimerOnTheFirstLevel) {
  timer_wheel wheel(epoch + 128_ticks);
  numbered_timer soon(1);
  numbered_timer later(2);
  wheel.add(later, epoch + 190_ticks);
  EXPECT_EQ(wheel.next_due(), epoch + 190_ticks);
  wheel.add(soon, epoch + 150_ticks);
  EXPECT_EQ(wheel.next_due(), epoch + 150_ticks);
  wheel.remove(soon);
  EXPECT_EQ(wheel.next_due(), epoch + 190_ticks);
}

TEST(TimerWheel, GetsToAFarTimerInAtMostOneStepPerLevel) {
  timer_wheel wheel(epoch + 12345_ticks);
  numbered_timer far(1);
  const time_point due = epoch + 87600h + 7_ticks;
  wheel.add(far, due);
  int steps = 0;
  while (!wheel.empty()) {
    const time_point next = wheel.next_due().value();
    ASSERT_LE(next, due);
    const auto fired = numbers_of(wheel.advance(next));
    ASSERT_EQ(fired.empty(), next < due);
    ++steps;
  }
  EXPECT_LE(steps, 8);
}

// --- Order ---------------------------------------------------------------------------------------

TEST(TimerWheel, ReturnsByTickAndWithinATickByAge) {
  timer_wheel wheel;
  std::deque<numbered_timer> timers;
  for (int i = 0; i < 6; ++i) timers.emplace_back(i);
  wheel.add(timers[0], epoch + 500_ticks);
  wheel.add(timers[1], epoch + 3_ticks);
  wheel.add(timers[2], epoch + 500_ticks);
  EXPECT_THAT(numbers_of(wheel.advance(epoch + 400_ticks)), ElementsAre(1));
  wheel.add(timers[3], epoch + 500_ticks);
  EXPECT_THAT(numbers_of(wheel.advance(epoch + 499_ticks)), IsEmpty());
  wheel.add(timers[4], epoch + 500_ticks);
  wheel.add(timers[5], epoch + 100_ticks);  // has passed: counts as now
  EXPECT_THAT(numbers_of(wheel.advance(epoch + 1h)), ElementsAre(5, 0, 2, 3, 4));
}

TEST(TimerWheel, TimeThatGoesBackIsIgnored) {
  timer_wheel wheel(epoch + 10_ticks);
  numbered_timer a(1);
  numbered_timer b(2);
  wheel.add(a, epoch + 12_ticks);
  EXPECT_THAT(numbers_of(wheel.advance(epoch + 11_ticks)), IsEmpty());
  wheel.add(b, epoch + 1_ticks);
  EXPECT_THAT(numbers_of(wheel.advance(epoch)), ElementsAre(2));
  EXPECT_EQ(wheel.next_due(), epoch + 12_ticks);
}

TEST(TimerWheel, NodesThatFiredCanBeAddedAgain) {
  timer_wheel wheel;
  numbered_timer timer(1);
  for (int i = 1; i <= 200; ++i) {
    wheel.add(timer, epoch + i * 10_ticks);
    EXPECT_THAT(numbers_of(wheel.advance(epoch + i * 10_ticks)), ElementsAre(1));
  }
}

TEST(TimerWheel, RemovesFromTheFrontTheMiddleAndTheBackOfATick) {
  for (int removed = 0; removed < 3; ++removed) {
    timer_wheel wheel;
    std::deque<numbered_timer> timers;
    for (int i = 0; i < 4; ++i) timers.emplace_back(i);
    for (int i = 0; i < 3; ++i) wheel.add(timers[static_cast<std::size_t>(i)], epoch + 5_ticks);
    wheel.remove(timers[static_cast<std::size_t>(removed)]);
    EXPECT_FALSE(timer_wheel::contains(timers[static_cast<std::size_t>(removed)]));
    wheel.add(timers[3], epoch + 5_ticks);
    EXPECT_EQ(wheel.size(), 3U);
    std::vector<int> expected = {0, 1, 2, 3};
    expected.erase(expected.begin() + removed);
    EXPECT_EQ(numbers_of(wheel.advance(epoch + 5_ticks)), expected);
  }
}

TEST(TimerWheelDeathTest, NodesThatAreNotInTheWheelCannotBeRemovedAndOthersNotAddedTwice) {
  timer_wheel wheel;
  numbered_timer timer(1);
  EXPECT_DEATH(wheel.remove(timer), "not in this wheel");
  wheel.add(timer, epoch + 5_ticks);
  EXPECT_DEATH(wheel.add(timer, epoch + 6_ticks), "in a wheel already");
  ASSERT_NE(wheel.advance(epoch + 5_ticks), nullptr);
  EXPECT_DEATH(wheel.remove(timer), "not in this wheel");
}

// --- Against a model -----------------------------------------------------------------------------

// What the wheel should do, the plain way: a map sorted by tick that keeps equals in order.
class model {
 public:
  void add(int number, time_point due) {
    const auto tick = std::chrono::ceil<timer_wheel::ticks>(due.time_since_epoch()).count();
    where_.emplace(number, timers_.emplace(std::max<std::int64_t>(tick, now_), number));
  }
  void remove(int number) {
    timers_.erase(where_.at(number));
    where_.erase(number);
  }
  std::vector<int> advance(time_point now) {
    const auto tick = std::chrono::floor<timer_wheel::ticks>(now.time_since_epoch()).count();
    now_ = std::max<std::int64_t>(now_, tick);
    std::vector<int> fired;
    while (!timers_.empty() && timers_.begin()->first <= now_) {
      fired.push_back(timers_.begin()->second);
      where_.erase(fired.back());
      timers_.erase(timers_.begin());
    }
    return fired;
  }
  [[nodiscard]] std::optional<std::int64_t> first_tick() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first;
  }
  [[nodiscard]] std::size_t size() const { return timers_.size(); }
  [[nodiscard]] std::int64_t now() const { return now_; }

 private:
  using ticks = std::multimap<std::int64_t, int>;
  std::int64_t now_ = 0;
  ticks timers_;
  std::map<int, ticks::iterator> where_;
};

// Close, or far: every level is reached, and ticks meet often.
rc::Gen<std::chrono::nanoseconds> any_distance() {
  return rc::gen::mapcat(rc::gen::inRange(0, 56), [](int bits) {
    return rc::gen::map(rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << bits) + 1),
                        [](std::int64_t count) { return std::chrono::nanoseconds(count); });
  });
}

void require_same_outlook(const timer_wheel& wheel, const model& expected) {
  RC_ASSERT(wheel.size() == expected.size());
  RC_ASSERT(wheel.empty() == (expected.size() == 0));
  const auto next = wheel.next_due();
  RC_ASSERT(next.has_value() == expected.first_tick().has_value());
  if (!next) return;
  const std::int64_t tick =
      std::chrono::floor<timer_wheel::ticks>(next->time_since_epoch()).count();
  const std::int64_t first = *expected.first_tick();
  RC_ASSERT(tick <= first);
  RC_ASSERT(tick >= expected.now());
  if (first / 64 == expected.now() / 64) RC_ASSERT(tick == first);
}

void require_same_behaviour() {
  timer_wheel wheel;
  model expected;
  std::deque<numbered_timer> timers;
  time_point now = epoch;
  const int steps = *rc::gen::inRange(0, 200);
  for (int step = 0; step < steps; ++step) {
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
      case 1: {
        const auto distance = *any_distance();
        const time_point due = *rc::gen::inRange(0, 8) == 0 ? now - distance : now + distance;
        timers.emplace_back(static_cast<int>(timers.size()));
        expected.add(timers.back().number, due);
        wheel.add(timers.back(), due);
        break;
      }
      case 2: {
        if (timers.empty()) break;
        numbered_timer& any = timers[*rc::gen::inRange<std::size_t>(0, timers.size())];
        if (!timer_wheel::contains(any)) break;
        expected.remove(any.number);
        wheel.remove(any);
        break;
      }
      default: {
        const auto next = wheel.next_due();
        now = next && *rc::gen::arbitrary<bool>() ? std::max(now, *next) : now + *any_distance();
        RC_ASSERT(numbers_of(wheel.advance(now)) == expected.advance(now));
      }
    }
    require_same_outlook(wheel, expected);
  }
  RC_ASSERT(numbers_of(wheel.advance(time_point::max())) == expected.advance(time_point::max()));
}

TEST(TimerWheel, DoesWhatASortedMapDoes) {
  EXPECT_TRUE(test::holds("wheel and map", require_same_behaviour));
}

}  // namespace
}  // namespace weft::coro
