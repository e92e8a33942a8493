#include <weft/batch/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <support/property.hpp>

namespace weft::batch {
namespace {

profile profile_of(const std::vector<sample>& samples) {
  profile made;
  for (const sample& one : samples) made.add(one);
  return made;
}

profile runs(double first_when, std::size_t count, double seconds) {
  profile made;
  for (std::size_t i = 0; i < count; ++i) {
    made.add({.when = first_when + static_cast<double>(i), .seconds = seconds});
  }
  return made;
}

// What the totals and the recent samples are by their definition, in two passes and long double.
profile by_definition(std::vector<sample> samples) {
  profile made;
  made.n = samples.size();
  if (samples.empty()) return made;
  long double sum = 0;
  made.min = made.max = samples.front().seconds;
  for (const sample& one : samples) {
    sum += one.seconds;
    made.min = std::min(made.min, one.seconds);
    made.max = std::max(made.max, one.seconds);
  }
  const long double mean = sum / static_cast<long double>(samples.size());
  long double squares = 0;
  for (const sample& one : samples) squares += (one.seconds - mean) * (one.seconds - mean);
  made.mean = static_cast<double>(mean);
  made.m2 = static_cast<double>(squares);
  std::sort(samples.begin(), samples.end());
  const std::size_t kept = std::min(samples.size(), profile::recent_max);
  made.recent.assign(samples.end() - static_cast<std::ptrdiff_t>(kept), samples.end());
  return made;
}

// As close as doubles of the size of `offset` can be.
bool agree(const profile& a, const profile& b, double offset) {
  const double step = (offset + 1) * std::numeric_limits<double>::epsilon();
  return a.n == b.n && a.min == b.min && a.max == b.max && a.recent == b.recent &&
         std::abs(a.mean - b.mean) <= 8 * step &&
         std::abs(a.std_dev() - b.std_dev()) <= 1e-9 * b.std_dev() + 8 * step;
}

// Few moments and few times, so that ties are common.
std::vector<sample> any_samples(double offset) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 40);
  std::vector<sample> samples(count);
  for (sample& one : samples) {
    one.when = *rc::gen::inRange(0, 20);
    one.seconds = offset + *rc::gen::inRange(0, 1000) / 1000.0;
    one.peak_rss = *rc::gen::inRange<std::uint64_t>(0, 3);
  }
  return samples;
}

// --- Totals ------------------------------------------------------------------------------------

TEST(Profile, TheFirstSampleIsAllThereIs) {
  const profile one = profile_of({{.when = 5, .seconds = .25, .peak_rss = 7}});
  EXPECT_EQ(one.n, 1U);
  EXPECT_EQ(one.mean, .25);
  EXPECT_EQ(one.min, .25);
  EXPECT_EQ(one.max, .25);
  EXPECT_EQ(one.std_dev(), 0);
  EXPECT_EQ(one.p50(), .25);
  EXPECT_EQ(one.p90(), .25);
  EXPECT_DOUBLE_EQ(one.estimate(), .25);
  EXPECT_EQ(one.peak_rss(), 7U);
  EXPECT_EQ(one.last_updated(), 5);
}

TEST(Profile, WithoutSamplesEverythingIsZero) {
  const profile none;
  EXPECT_EQ(none.std_dev(), 0);
  EXPECT_EQ(none.p50(), 0);
  EXPECT_EQ(none.p90(), 0);
  EXPECT_EQ(none.estimate(), 0);
  EXPECT_EQ(none.peak_rss(), 0U);
  EXPECT_EQ(none.last_updated(), 0);
}

TEST(Profile, TotalsAreThoseOfTheDefinitionAlsoFarFromZero) {
  for (const double offset : {0.0, 1000.0, 999'999'998.0}) {
    EXPECT_TRUE(test::holds("one by one", [offset] {
      const auto samples = any_samples(offset);
      RC_ASSERT(agree(profile_of(samples), by_definition(samples), offset));
    })) << offset;
  }
}

TEST(Profile, MergingIsHavingSeenAllSamplesInAnyOrderAndGrouping) {
  for (const double offset : {0.0, 999'999'998.0}) {
    EXPECT_TRUE(test::holds("merged", [offset] {
      const auto a = any_samples(offset);
      const auto b = any_samples(offset);
      const auto c = any_samples(offset);
      std::vector<sample> all = a;
      all.insert(all.end(), b.begin(), b.end());
      all.insert(all.end(), c.begin(), c.end());
      const profile expected = by_definition(all);

      profile left = profile_of(a);
      left.merge(profile_of(b));
      left.merge(profile_of(c));
      RC_ASSERT(agree(left, expected, offset));

      profile inner = profile_of(c);
      inner.merge(profile_of(b));
      profile right = inner;
      right.merge(profile_of(a));
      RC_ASSERT(agree(right, expected, offset));
    })) << offset;
  }
}

TEST(Profile, MergingWithItselfCountsEverythingTwice) {
  profile doubled = profile_of({{1, 1}, {2, 3}});
  doubled.failures = 2;
  doubled.timeouts = 1;
  doubled.merge(doubled);
  EXPECT_EQ(doubled.n, 4U);
  EXPECT_EQ(doubled.mean, 2);
  EXPECT_EQ(doubled.m2, 4);
  EXPECT_EQ(doubled.failures, 4U);
  EXPECT_EQ(doubled.timeouts, 2U);
  EXPECT_EQ(doubled.recent, (std::vector<sample>{{1, 1}, {1, 1}, {2, 3}, {2, 3}}));
}

TEST(Profile, FailuresAddUpWhereNothingElseIsKnown) {
  profile one;
  profile other;
  other.failures = 3;
  one.merge(other);
  EXPECT_EQ(one.failures, 3U);
  EXPECT_EQ(one.n, 0U);
}

TEST(Profile, TimesThatCannotBeAreIgnored) {
  profile made = runs(0, 3, 1);
  const profile before = made;
  for (const double seconds :
       {-1.0, -1e-300, 1.1e9, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    made.add({.when = 9, .seconds = seconds});
    EXPECT_EQ(made, before) << seconds;
  }
}

TEST(Profile, AMomentThatCannotBeIsNotKnownAndSoTheOldest) {
  profile made = runs(1, 2, 1);
  made.add({.when = std::numeric_limits<double>::quiet_NaN(), .seconds = 2});
  made.add({.when = -5, .seconds = 3});
  EXPECT_EQ(made.recent, (std::vector<sample>{{0, 2}, {0, 3}, {1, 1}, {2, 1}}));
}

// --- Recent samples ----------------------------------------------------------------------------

TEST(Profile, ARuleThatBecomesTenTimesSlowerOrFasterIsBelievedWithinTenRuns) {
  for (const double after : {1.0, .01}) {
    profile made = runs(0, 500, .1);
    for (int run = 1; run <= 10; ++run) made.add({.when = 1000.0 + run, .seconds = after});
    EXPECT_GE(made.estimate(), after * .75);
    EXPECT_LE(made.estimate(), after * 1.25);
  }
}

TEST(Profile, OneRunThatIsAHundredTimesSlowerDoesNotDoubleTheEstimate) {
  profile made = runs(0, 500, .1);
  made.add({.when = 1000, .seconds = 10});
  EXPECT_GT(made.estimate(), .1);
  EXPECT_LE(made.estimate(), .2);
}

TEST(Profile, AnEstimateIsTheTimeOfARuleThatAlwaysTakesTheSame) {
  for (const double seconds : {1e-6, .5, 3600.0}) {
    EXPECT_NEAR(runs(0, 50, seconds).estimate(), seconds, seconds * 1e-12);
  }
}

TEST(Profile, ATimeOfZeroIsTakenForANanosecond) {
  const profile made = runs(0, 3, 0);
  EXPECT_EQ(made.n, 3U);
  EXPECT_EQ(made.min, 0);
  EXPECT_NEAR(made.estimate(), 1e-9, 1e-20);
}

TEST(Profile, WithoutRecentSamplesTheMeanIsTheBestGuess) {
  profile made;
  made.n = 4;
  made.mean = .5;
  EXPECT_EQ(made.estimate(), .5);
}

TEST(Profile, SamplesFromBeforeTheRecentOnesCountInTheTotalsOnly) {
  profile made = runs(1000, profile::recent_max, 1);
  const std::vector<sample> before = made.recent;
  made.add({.when = 10, .seconds = 9});
  EXPECT_EQ(made.recent, before);
  EXPECT_EQ(made.n, profile::recent_max + 1);
  EXPECT_EQ(made.max, 9);
}

TEST(Profile, MemoryIsForgottenWithTheSampleThatNeededIt) {
  profile made;
  made.add({.when = 0, .seconds = 1, .peak_rss = 1'000'000});
  for (std::size_t i = 1; i < profile::recent_max; ++i) {
    made.add({.when = static_cast<double>(i), .seconds = 1, .peak_rss = 1000 + i});
    EXPECT_EQ(made.peak_rss(), 1'000'000U);
  }
  made.add({.when = 100, .seconds = 1, .peak_rss = 1});
  EXPECT_EQ(made.peak_rss(), 1000 + profile::recent_max - 1);
}

TEST(Profile, PercentilesAreTimesThatWereSeen) {
  profile made;
  for (int i = 1; i <= 10; ++i) made.add({.when = 20.0 - i, .seconds = static_cast<double>(i)});
  EXPECT_EQ(made.p50(), 5);
  EXPECT_EQ(made.p90(), 9);
  made.add({.when = 50, .seconds = 11});
  EXPECT_EQ(made.p50(), 6);
  EXPECT_EQ(made.p90(), 10);
}

// --- Many rules --------------------------------------------------------------------------------

TEST(Profiles, AreFoundByRuleAndClass) {
  profiles many;
  many.at({"a"}).add({1, 1});
  many.at({"a", "large"}).add({1, 9});
  const std::string_view rule = "a";
  ASSERT_NE(many.find({rule}), nullptr);
  EXPECT_EQ(many.find({rule})->mean, 1);
  EXPECT_EQ(many.find({.rule = rule, .input_class = "large"})->mean, 9);
  EXPECT_EQ(many.find({rule, "small"}), nullptr);
  EXPECT_EQ(many.find({"b"}), nullptr);
  EXPECT_EQ(many.find(profile_key{"a", "large"})->mean, 9);
}

TEST(Profiles, TheNearestIsThatOfTheSameRuleWithTheMostSamples) {
  profiles many;
  many.at({"a", "1"}) = runs(0, 2, 1);
  many.at({"a", "2"}) = runs(0, 5, 2);
  many.at({"a", "3"}).failures = 4;
  many.at({"b", "9"}) = runs(0, 50, 3);
  EXPECT_EQ(many.nearest({"a", "1"})->mean, 1);
  EXPECT_EQ(many.nearest({"a", "3"})->mean, 2);
  EXPECT_EQ(many.nearest({"a"})->mean, 2);
  EXPECT_EQ(many.nearest({"aa"}), nullptr);
  EXPECT_EQ(many.nearest({"c"}), nullptr);
}

TEST(Profiles, StayWhereTheyAreAsOthersAreAdded) {
  profiles many;
  profile& first = many.at({"500"});
  for (int i = 0; i < 1000; ++i) many.at({std::to_string(i)}).add({1, 1});
  first.add({2, 2});
  EXPECT_EQ(many.find({"500"})->n, 2U);
}

TEST(Profiles, MergeRuleByRule) {
  profiles one;
  profiles other;
  one.at({"a"}) = runs(0, 2, 1);
  one.at({"c"}) = runs(0, 1, 3);
  other.at({"a"}) = runs(10, 3, 1);
  other.at({"b"}) = runs(0, 4, 2);
  other.at({"c", "x"}) = runs(0, 5, 2);
  one.merge(other);
  EXPECT_EQ(one.size(), 4U);
  EXPECT_EQ(one.find({"a"})->n, 5U);
  EXPECT_EQ(one.find({"b"})->n, 4U);
  EXPECT_EQ(one.find({"c"})->n, 1U);
  EXPECT_EQ(one.find({"c", "x"})->n, 5U);
  one.merge(one);
  EXPECT_EQ(one.find({"a"})->n, 10U);
}

TEST(Profiles, InsertKeepsWhatIsThere) {
  profiles many;
  EXPECT_TRUE(many.insert({"a"}, runs(0, 2, 1)));
  EXPECT_FALSE(many.insert({"a"}, runs(0, 9, 1)));
  EXPECT_EQ(many.find({"a"})->n, 2U);
}

}  // namespace
}  // namespace weft::batch
