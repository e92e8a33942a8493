#include <weft/batch/explain.hpp>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <batch/records.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using test::ran;
using test::record_of;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Explain, NamesTheRuleWhoseEndMadeItReady) {
  const run_record record = record_of(
      2, 5, {ran("quick", 0, 0, 1), ran("slow", 1, 0, 3), ran("last", 1, 3, 2, {"quick", "slow"})});
  const explanation why = explain(record, 2);
  EXPECT_EQ(why.before, 2U);
  EXPECT_EQ(why.last_before, 1U);
  EXPECT_TRUE(why.is_critical);
  EXPECT_DOUBLE_EQ(why.slack, 0);
  EXPECT_DOUBLE_EQ(why.waited_for_worker, 0);
  EXPECT_EQ(explain(record, 1).released, 1U);
  EXPECT_EQ(explain(record, 0).released, 0U);
  EXPECT_DOUBLE_EQ(explain(record, 0).slack, 2);
}

TEST(Explain, ARuleThatFailedMakesNothingReady) {
  run_record record = record_of(1, 1, {ran("bad", 0, 0, 1), ran("after", 0, 1, 0, {"bad"})});
  record.rules[0].status = rule_status::failed;
  record.rules[1].status = rule_status::skipped;
  EXPECT_EQ(explain(record, 0).released, 0U);
}

TEST(Explain, SeesThroughBatches) {
  run_record record = record_of(1, 3, {ran("a", 0, 0, 1), ran("b", 0, 1, 1), ran("c", 0, 2, 1)});
  record.batches = {{.id = "first"}, {.id = "second", .after = {"first"}}};
  record.rules[0].batch = record.rules[1].batch = "first";
  record.rules[2].batch = "second";
  const explanation why = explain(record, 2);
  EXPECT_EQ(why.before, 2U);
  EXPECT_EQ(why.last_before, 1U);
}

TEST(Explain, SeesBarriers) {
  // c comes after a, which ended long before the batch did.
  run_record record = record_of(
      2, 4, {ran("a", 0, 0, 1), ran("b", 1, 0, 3), ran("c", 0, 3, 1, {"a"}), ran("d", 1, 3, 1)});
  record.batches = {{.id = "first", .workers = 2}, {.id = "second", .workers = 2, .began = 3}};
  record.rules[0].batch = record.rules[1].batch = "first";
  record.rules[2].batch = record.rules[3].batch = "second";
  EXPECT_EQ(explain(record, 2).last_before, 0U);
  EXPECT_EQ(explain(record, 3).last_before, std::nullopt);
  record.barriers = true;
  EXPECT_EQ(explain(record, 0).last_before, std::nullopt);
  EXPECT_EQ(explain(record, 1).released, 2U);
  for (const std::size_t rule : {2U, 3U}) {
    EXPECT_EQ(explain(record, rule).last_before, 1U);
    EXPECT_EQ(explain(record, rule).before, 2U);
  }
}

TEST(Explain, WaitingForAWorkerIsToldFromWaitingForRoom) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 2), ran("b", 0, 2, 1), ran("c", 1, 0, 5)};
  rules[1].ready = 0.5;
  rules[1].held = 1.5;
  const explanation why = explain(record_of(2, 5, rules), 1);
  EXPECT_DOUBLE_EQ(why.waited_for_worker, 1);
  EXPECT_DOUBLE_EQ(why.waited_for_room, 0.5);
  EXPECT_EQ(why.made_way, 0U);
}

TEST(Explain, NamesWhatBeganFirstAlthoughItWasReady) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1), ran("b", 0, 1, 1), ran("c", 0, 2, 1),
                                    ran("d", 0, 3, 1)};
  rules[2].ready = 0.5;
  rules[3].ready = 0;
  const run_record record = record_of(1, 4, rules);
  EXPECT_THAT(explain(record, 2).overtook, ElementsAre(1));
  EXPECT_THAT(explain(record, 3).overtook, ElementsAre(0, 1, 2));
  EXPECT_THAT(explain(record, 0).overtook, IsEmpty());
}

TEST(Explain, ARuleThatDidNotRunStillHasItsPlace) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1), ran("b", 0, 0, 0, {"a"})};
  rules[1].status = rule_status::skipped;
  const explanation why = explain(record_of(1, 1, rules), 1);
  EXPECT_EQ(why.before, 1U);
  EXPECT_THAT(why.overtook, IsEmpty());
}

TEST(Explain, EveryWaitOfEveryScheduleIsAccountedFor) {
  EXPECT_TRUE(test::holds("waits are accounted for", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed);
    for (std::size_t i = 0; i < record.rules.size(); ++i) {
      const explanation why = explain(record, i);
      const double waited = record.rules[i].start - record.rules[i].ready;
      RC_ASSERT(std::abs(why.waited_for_worker + why.waited_for_room - waited) < 1e-9);
      // Bare, RC_ASSERT would look at both sides.
      RC_ASSERT((!why.last_before ||
                 record.rules[*why.last_before].end() <= record.rules[i].start + 1e-9));
    }
  }));
}

}  // namespace
}  // namespace weft::batch
