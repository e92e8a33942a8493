#include <weft/batch/history.hpp>

#include <fstream>

#include <gtest/gtest.h>

#include <weft/batch/event_log.hpp>

#include <batch/records.hpp>
#include <support/temporary_directory.hpp>

namespace weft::batch {
namespace {

using test::ran;
using test::record_of;

rule_history of_times(std::initializer_list<double> seconds) {
  rule_history made;
  for (const double each : seconds) made.runs.push_back({.duration = each});
  return made;
}

TEST(RuleHistory, QuantilesAreTimesThatOccurred) {
  const rule_history ten = of_times({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(ten.p50(), 5);
  EXPECT_DOUBLE_EQ(ten.p90(), 9);
  EXPECT_DOUBLE_EQ(of_times({3}).p90(), 3);
  EXPECT_DOUBLE_EQ(of_times({}).p50(), 0);
}

TEST(RuleHistory, TheTrendComparesTheLaterRunsWithTheEarlierOnes) {
  EXPECT_DOUBLE_EQ(of_times({1, 1, 2, 2}).trend(), 2);
  EXPECT_DOUBLE_EQ(of_times({1, 2, 3}).trend(), 1);  // too few to tell
  EXPECT_DOUBLE_EQ(of_times({0, 0, 2, 2}).trend(), 1);
}

TEST(RuleHistory, FlakesAndFailuresAreSharesOfTheRuns) {
  rule_history made = of_times({1, 1, 1, 1});
  made.runs[0].status = rule_status::flaky;
  made.runs[1].status = rule_status::timed_out;
  made.runs[2].status = rule_status::failed;
  EXPECT_DOUBLE_EQ(made.flake_rate(), 0.25);
  EXPECT_DOUBLE_EQ(made.failure_rate(), 0.5);
}

// Writes the log of a run in which the rule "a" took so long.
void write_run(const std::string& directory, const std::string& file, double started,
               double seconds) {
  run_record record = record_of(1, seconds, {ran("a", 0, 0, seconds)});
  record.id = new_run_id(started);
  record.started = started;
  record.plan_file = file;
  auto log = event_log::create(directory, record);
  ASSERT_TRUE(log) << log.error().message;
  (*log)->finished(0, record.rules[0]);
  (*log)->done(seconds, run_ending::complete, {});
}

TEST(History, HasTheRunsOfThisPlanUpToTheOneAskedFor) {
  const test::temporary_directory directory;
  const std::string runs = directory.path("runs");
  for (int i = 1; i <= 4; ++i) write_run(runs, "/plan.toml", 1e9 + i, i);
  write_run(runs, "/another.toml", 1e9, 100);
  const auto third = read_run(list_runs(runs)[1]);
  ASSERT_TRUE(third);

  const history all = read_history(runs, third->record);
  EXPECT_EQ(all.runs, 3U);
  ASSERT_NE(all.find("a"), nullptr);
  EXPECT_EQ(all.find("b"), nullptr);
  const auto& seen = all.find("a")->runs;
  ASSERT_EQ(seen.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_DOUBLE_EQ(seen[i].duration, static_cast<double>(i + 1));

  EXPECT_EQ(read_history(runs, third->record, 2).runs, 2U);
}

TEST(History, LogsThatCannotBeReadAreLeftOut) {
  const test::temporary_directory directory;
  const std::string runs = directory.path("runs");
  write_run(runs, "/plan.toml", 1e9, 1);
  std::ofstream(runs + "/" + new_run_id(1e9 - 5) + ".jsonl") << "no log\n";
  const auto newest = read_run(list_runs(runs)[0]);
  ASSERT_TRUE(newest);
  EXPECT_EQ(read_history(runs, newest->record).runs, 1U);
}

}  // namespace
}  // namespace weft::batch
