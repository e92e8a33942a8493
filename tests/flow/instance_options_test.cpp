#include <weft/flow/instance_options.hpp>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(InstanceOptions, DefaultsAndZeroesAreValid) {
  EXPECT_NO_THROW(flow::check_options({}, "each"));
  EXPECT_NO_THROW(flow::check_options(
      {.timeout = 0ns, .total_timeout = 0ns, .tolerated = failure_tolerance{.percent = 100}},
      "each"));
}

TEST(InstanceOptions, BadOnesAreRefusedWithTheCallTheFieldAndTheWayOut) {
  struct bad {
    instance_options options;
    std::string field;
    std::string advice;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<bad> table = {
      {{.timeout = -1ns}, "::timeout is negative", "nothing to wait for ever"},
      {{.total_timeout = -1h}, "total_timeout is negative", "nothing to wait for ever"},
      {{.retry = {.pause = -1ms}}, "retry is negative", "0 or more"},
      {{.retry = {.longest = -1ms}}, "retry is negative", "0 or more"},
      {{.retry = {.factor = 0.5}}, "retry.factor", "1 or more"},
      {{.retry = {.factor = nan}}, "retry.factor", "1 or more"},
      {{.retry = {.jitter = 1.5}}, "retry.jitter", "from 0 to 1"},
      {{.retry = {.jitter = nan}}, "retry.jitter", "from 0 to 1"},
      {{.tolerated = failure_tolerance{.percent = 101}}, "percent", "from 0 to 100"},
      {{.tolerated = failure_tolerance{.percent = -1}}, "percent", "from 0 to 100"},
  };
  for (const bad& b : table) {
    EXPECT_THAT([&] { flow::check_options(b.options, "each"); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(HasSubstr("weft: each: "), HasSubstr(b.field), HasSubstr(b.advice))));
  }
}

TEST(Retry, PausesGrowUpToTheLongest) {
  const retry_policy policy{.times = 9, .pause = 100ms, .factor = 3, .longest = 1s, .jitter = 0};
  EXPECT_EQ(flow::pause_before_retry(policy, 1, 0.7), 100ms);
  EXPECT_EQ(flow::pause_before_retry(policy, 2, 0.7), 300ms);
  EXPECT_EQ(flow::pause_before_retry(policy, 3, 0.7), 900ms);
  EXPECT_EQ(flow::pause_before_retry(policy, 4, 0.7), 1s);
  EXPECT_EQ(flow::pause_before_retry(policy, 100'000, 0.7), 1s) << "the power is infinite";
}

TEST(Retry, JitterTakesAShareOfThePauseAway) {
  const retry_policy policy{.times = 1, .pause = 1s, .jitter = 0.5};
  EXPECT_EQ(flow::pause_before_retry(policy, 1, 0), 1s);
  EXPECT_EQ(flow::pause_before_retry(policy, 1, 1), 500ms);
}

TEST(Retry, PausesNeverExceedTheLongestOfAll) {
  constexpr auto longest = std::chrono::nanoseconds::max();
  const retry_policy policy{.times = 9, .pause = longest, .longest = longest, .jitter = 0};
  EXPECT_EQ(flow::pause_before_retry(policy, 1, 0), longest);
  EXPECT_EQ(flow::pause_before_retry(policy, 9, 0), longest);
}

TEST(Retry, WithoutAPauseIsAtOnce) {
  EXPECT_EQ(flow::pause_before_retry({.times = 1}, 1, 0.3), 0ns);
  EXPECT_EQ(flow::pause_before_retry({.times = 100'000}, 100'000, 0.3), 0ns);
}

TEST(JoinRule, WithoutOneWaitsForAll) {
  const join_rule rule;
  EXPECT_TRUE(rule.waits_for_all());
  EXPECT_FALSE(rule.fires({.added = 2, .values = 2}));
}

TEST(JoinRule, NOfCountsValuesOnly) {
  const join_rule rule = n_of(2);
  EXPECT_FALSE(rule.fires({.added = 9, .values = 1, .errors = 5, .timed_out = 1, .cancelled = 1}));
  EXPECT_TRUE(rule.fires({.added = 9, .values = 2}));
  EXPECT_FALSE(rule.fires_at_once());
  EXPECT_EQ(rule.rest(), rest::cancel);
  EXPECT_EQ(n_of(2, rest::let_finish).rest(), rest::let_finish);
}

TEST(JoinRule, NOfZeroAsksForNothing) { EXPECT_TRUE(n_of(0).fires_at_once()); }

TEST(JoinRule, UntilAsksThePredicate) {
  const join_rule rule = until([](const group_progress& p) { return p.failures() == 2; });
  EXPECT_FALSE(rule.fires({.values = 2, .errors = 1}));
  EXPECT_TRUE(rule.fires({.errors = 1, .timed_out = 1}));
  EXPECT_FALSE(rule.fires_at_once());
}

TEST(JoinRule, UntilHoldsWhatThePredicateRefersTo) {
  std::size_t wanted = 1;
  int asked = 0;
  const join_rule rule = until([&wanted, &asked](const group_progress& p) {
    ++asked;
    return p.values >= wanted;
  });
  const join_rule copy = rule;
  wanted = 3;
  EXPECT_FALSE(rule.fires({.values = 2}));
  EXPECT_TRUE(copy.fires({.values = 3}));
  EXPECT_EQ(asked, 2);
}

TEST(JoinRule, UntilRefusesAnEmptyPredicate) {
  bool (*const empty)(const group_progress&) = nullptr;
  EXPECT_THAT([&] { static_cast<void>(until(empty)); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("until was given an empty function")));
}

}  // namespace
}  // namespace weft
