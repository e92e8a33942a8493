#include <weft/adapt/breaker.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iostream>
#include <random>
#include <string_view>

#include <support/scale.hpp>

namespace {

using weft::adapt::breaker;
using weft::adapt::circuit;
using weft::adapt::outcome;

void record(breaker& b, std::string_view outcomes) {
  for (const char c : outcomes) b.record(c == '+' ? outcome::success : outcome::failure);
}

circuit after(std::string_view outcomes) {
  breaker b;
  record(b, outcomes);
  return b.circuit();
}

TEST(Breaker, StartsClosed) { EXPECT_EQ(breaker().circuit(), circuit::closed); }

TEST(Breaker, OneFailureOfOneDoesNotOpenIt) { EXPECT_EQ(after("-"), circuit::closed); }

TEST(Breaker, NineFailuresAreTooFewAttemptsToJudge) {
  EXPECT_EQ(after("---------"), circuit::closed);
  EXPECT_EQ(after("----------"), circuit::open);
}

TEST(Breaker, FiveFailuresOfTenKeepItClosedAndSixOpenIt) {
  EXPECT_EQ(after("-----+++++"), circuit::closed);
  EXPECT_EQ(after("------++++"), circuit::open);
}

TEST(Breaker, ThreeFailuresOfTenKeepItOpenAndTwoCloseIt) {
  EXPECT_EQ(after("----------"
                  "+++++++"),
            circuit::open);
  EXPECT_EQ(after("----------"
                  "++++++++"),
            circuit::closed);
}

TEST(Breaker, BetweenTheTwoItStaysWhatItWas) {
  EXPECT_EQ(after("+++++-----"), circuit::closed);
  EXPECT_EQ(after("----------"
                  "+++++"),
            circuit::open);
}

TEST(Breaker, OnlyTheLastTenAttemptsCount) {
  EXPECT_EQ(after("-----+++++"
                  "-++++-++++"),
            circuit::closed);
  EXPECT_EQ(after("++++++++++++++++++++"
                  "------"),
            circuit::open);
}

TEST(Breaker, CountsAttemptsAndFailuresOfTheWindow) {
  breaker b;
  record(b, "-+-");
  EXPECT_EQ(b.attempts(), 3U);
  EXPECT_EQ(b.failures(), 2U);
  record(b, "++++++++++++");
  EXPECT_EQ(b.attempts(), 10U);
  EXPECT_EQ(b.failures(), 0U);
}

TEST(Breaker, ResetClosesItAndForgetsTheAttempts) {
  breaker b;
  record(b, "----------");
  b.reset();
  EXPECT_EQ(b.circuit(), circuit::closed);
  EXPECT_EQ(b.attempts(), 0U);
  record(b, "---------");
  EXPECT_EQ(b.circuit(), circuit::closed);
  record(b, "-");
  EXPECT_EQ(b.circuit(), circuit::open);
}

// One attempt every ten seconds, with failure rates that wander, against the rule written with a
// queue.
TEST(Breaker, HundredThousandHoursOfAttemptsAgreeWithTheRule) {
  constexpr std::uint64_t seed = 4;
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 random(seed);
  breaker b;
  std::deque<bool> window;
  bool open = false;
  std::int64_t failed_in_a_hundred = 50;
  const std::int64_t attempts = 3600LL * weft::test::rounds(100'000) / 10;
  for (std::int64_t i = 0; i < attempts; ++i) {
    const std::uint64_t bits = random();
    if (i % 1000 == 0) failed_in_a_hundred = static_cast<std::int64_t>(bits >> 32U) % 101;
    const bool failed = static_cast<std::int64_t>(bits % 100) < failed_in_a_hundred;
    b.record(failed ? outcome::failure : outcome::success);
    window.push_back(failed);
    if (window.size() > 10) window.pop_front();
    if (window.size() == 10) {
      const auto failures = std::count(window.begin(), window.end(), true);
      if (failures > 5) open = true;
      if (failures < 3) open = false;
    }
    ASSERT_EQ(b.circuit() == circuit::open, open) << "attempt " << i;
  }
}

}  // namespace
