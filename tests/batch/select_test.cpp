#include <weft/batch/select.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/batch/graph.hpp>

#include <batch/plans.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using test::named;
using ::testing::ElementsAre;

std::vector<std::string> ids(const plan& p) {
  std::vector<std::string> found;
  for (const rule& r : p.rules()) found.push_back(r.id);
  return found;
}

plan sample() {
  plan p;
  p.add_batch({.id = "x"}).add_batch({.id = "y", .after = {"x"}});
  p.add(named("a", {}, "x")).add(named("b", {}, "y")).add(named("c", {"b"}, "y"));
  rule tagged = named("d");
  tagged.tags = {"slow"};
  p.add(tagged).add(named("e", {"d"}));
  return p;
}

TEST(Select, OnlyBringsWhatItComesAfter) {
  EXPECT_THAT(ids(select(sample(), selection{.only = {"c"}})), ElementsAre("a", "b", "c"));
  EXPECT_THAT(ids(select(sample(), selection{.only = {"[de]"}})), ElementsAre("d", "e"));
}

TEST(Select, TagsChooseTheSameWay) {
  EXPECT_THAT(ids(select(sample(), selection{.tags = {"slow"}})), ElementsAre("d"));
}

TEST(Select, WhatIsSkippedIsNotWaitedFor) {
  const plan left = select(sample(), selection{.skip = {"b"}});
  EXPECT_THAT(ids(left), ElementsAre("a", "c", "d", "e"));
  EXPECT_TRUE(left.rules()[1].after.empty());
  EXPECT_TRUE(find_problems(left).empty());
}

TEST(Select, SkipWinsOverOnlyAndDoneHasNoPatterns) {
  EXPECT_THAT(ids(select(sample(), selection{.only = {"c"}, .skip = {"a"}})),
              ElementsAre("b", "c"));
  EXPECT_THAT(ids(select(sample(), selection{.done = {"a", "*"}})),
              ElementsAre("b", "c", "d", "e"));
}

TEST(Select, ABatchThatOnlyRulesNameIsKnownWhenTheyAreGone) {
  plan p;
  p.add(named("a", {}, "x")).add(named("b", {"x"}, "y")).add(named("c", {}, "y"));
  const plan left = select(p, selection{.done = {"a"}});
  EXPECT_THAT(ids(left), ElementsAre("b", "c"));
  EXPECT_TRUE(find_problems(left).empty());
}

TEST(Select, ShardsOfIndependentRulesAreDisjointCompleteAndBalanced) {
  plan p;
  std::vector<double> cost;
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> duration(0, 1);
  for (int i = 0; i < 200; ++i) {
    p.add(named("r" + std::to_string(i)));
    cost.push_back(duration(random));
  }
  const double mean = std::accumulate(cost.begin(), cost.end(), 0.0) / 4;
  std::multiset<std::string> seen;
  for (std::size_t i = 1; i <= 4; ++i) {
    double sum = 0;
    for (const std::string& id : ids(select(p, shard{i, 4}, cost))) {
      seen.insert(id);
      sum += cost[std::stoul(id.substr(1))];
    }
    EXPECT_NEAR(sum / mean, 1.0, 0.02);
  }
  EXPECT_EQ(seen.size(), 200U);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 200U);
}

TEST(Select, AShardHasWhatItsRulesComeAfter) {
  const plan p = sample();
  const std::vector<double> cost(5, 1.0);
  std::set<std::string> seen;
  for (std::size_t i = 1; i <= 2; ++i) {
    const plan part = select(p, shard{i, 2}, cost);
    EXPECT_TRUE(find_problems(part).empty());
    const auto names = ids(part);
    const std::set<std::string> has(names.begin(), names.end());
    EXPECT_TRUE(!has.contains("c") || (has.contains("b") && has.contains("a")));
    EXPECT_TRUE(!has.contains("e") || has.contains("d"));
    seen.insert(names.begin(), names.end());
  }
  EXPECT_EQ(seen.size(), 5U);
}

TEST(Select, EveryRuleIsInAShardAndEveryShardRunsAlone) {
  EXPECT_TRUE(test::holds("shards cover the plan", [](std::uint64_t seed) {
    const test::layered made = test::make_layered({3, 5, 4, 6}, 1 + seed % 3, 1.0, seed);
    const std::size_t shards = 1 + seed % 5;
    std::set<std::string> covered;
    for (std::size_t i = 1; i <= shards; ++i) {
      const plan part = select(made.plan, shard{.index = i, .count = shards}, made.cost);
      RC_ASSERT(find_problems(part).empty());
      const std::vector<std::string> own = ids(part);
      covered.insert(own.begin(), own.end());
      for (const rule& kept : part.rules()) {
        const auto whole = std::ranges::find(made.plan.rules(), kept.id, &rule::id);
        RC_ASSERT(kept.after == whole->after);
      }
    }
    RC_ASSERT(covered.size() == made.plan.rules().size());
  }));
}

TEST(Select, ABatchAfterALargeOneIsDealtWithoutLookingAtTheOtherForEachRule) {
  constexpr int half = 100'000;  // squared, minutes
  plan p;
  p.add_batch({.id = "x"}).add_batch({.id = "y", .after = {"x"}});
  for (int i = 0; i < 2 * half; ++i) p.add(named(std::to_string(i), {}, i < half ? "x" : "y"));
  const std::vector<double> cost(p.rules().size(), 1.0);
  EXPECT_EQ(select(p, shard{.index = 1, .count = 4}, cost).rules().size(), half + half / 4U);
}

TEST(Select, MoreShardsThanRulesLeavesSomeEmpty) {
  plan p;
  p.add(named("a"));
  EXPECT_THAT(ids(select(p, shard{1, 3}, std::vector<double>{1})), ElementsAre("a"));
  EXPECT_TRUE(select(p, shard{2, 3}, std::vector<double>{1}).rules().empty());
}

}  // namespace
}  // namespace weft::batch
