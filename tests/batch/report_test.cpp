#include <weft/batch/report.hpp>

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <batch/records.hpp>
#include <support/property.hpp>

namespace weft {
namespace {

using test::ran;
using test::record_of;

double sum_of(const gap_parts& parts) {
  return parts.dependency + parts.tail + parts.admission + parts.overhead;
}

TEST(Report, TheBoundIsTheLargestOfPathWorkAndLongestRule) {
  const run_report path = make_report(
      record_of(2, 4, {ran("a", 0, 0, 1), ran("b", 0, 1, 3, {"a"}), ran("c", 1, 0, 1)}));
  EXPECT_DOUBLE_EQ(path.lower_bound, 4);
  EXPECT_DOUBLE_EQ(path.critical_path, 4);
  EXPECT_EQ(path.critical_rules, (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(path.gap, 1);

  const run_report work =
      make_report(record_of(2, 3, {ran("a", 0, 0, 2), ran("b", 1, 0, 2), ran("c", 0, 2, 1)}));
  EXPECT_DOUBLE_EQ(work.lower_bound, 2.5);
  EXPECT_DOUBLE_EQ(work.work, 5);
  EXPECT_DOUBLE_EQ(work.gap, 1.2);
}

TEST(Report, UtilisationIsBusyTimeOfAllWorkersByTheLengthOfTheRun) {
  const run_report report = make_report(record_of(2, 4, {ran("a", 0, 0, 4), ran("b", 1, 0, 1)}));
  EXPECT_DOUBLE_EQ(report.avg_worker_utilization, 62.5);
  EXPECT_DOUBLE_EQ(report.min_worker_utilization, 25);
  EXPECT_DOUBLE_EQ(report.max_worker_utilization, 100);
  EXPECT_DOUBLE_EQ(report.utilization_variance, 37.5);  // the standard deviation
  EXPECT_DOUBLE_EQ(report.worker_stats[1].idle, 3);
}

TEST(Report, IdleTimeWithNothingLeftToBeginIsTheTail) {
  // Two rules of 2 s and one of 1 s: half a second more than work / workers, all of it at the end.
  const run_report report =
      make_report(record_of(2, 3, {ran("a", 0, 0, 2), ran("b", 1, 0, 2), ran("c", 0, 2, 1)}));
  EXPECT_DOUBLE_EQ(report.gap_parts.tail, 0.5);
  EXPECT_DOUBLE_EQ(sum_of(report.gap_parts), 0.5);
}

TEST(Report, IdleTimeWhileOthersMustFinishFirstIsDependency) {
  // c and d wait for a, for a second in which the other worker has nothing to do.
  const run_report report = make_report(record_of(2, 4,
                                                  {ran("a", 0, 0, 1), ran("c", 0, 1, 3, {"a"}),
                                                   ran("d", 1, 1, 3, {"a"}), ran("e", 1, 0, 0.5)}));
  EXPECT_DOUBLE_EQ(report.lower_bound, 4);
  EXPECT_DOUBLE_EQ(sum_of(report.gap_parts), 0);  // no schedule could have avoided it

  const run_report barrier = make_report(
      record_of(2, 5, {ran("a", 0, 0, 2), ran("c", 0, 2, 3, {"a"}), ran("d", 1, 2, 3)}));
  EXPECT_DOUBLE_EQ(barrier.lower_bound, 5);
}

TEST(Report, IdleTimeBesideAReadyRuleIsOverhead) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1), ran("b", 1, 0.5, 1)};
  rules[1].ready = 0;  // half a second passed before it began
  const run_report report = make_report(record_of(2, 1.5, rules));
  EXPECT_DOUBLE_EQ(report.gap_parts.overhead, 0.25);
  EXPECT_DOUBLE_EQ(report.gap_parts.tail, 0.25);
}

TEST(Report, IdleTimeForWantOfRoomIsAdmission) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1), ran("b", 1, 1, 1)};
  rules[1].ready = 0;
  rules[1].held = 0;
  const run_report report = make_report(record_of(2, 2, rules));
  EXPECT_DOUBLE_EQ(report.gap_parts.admission, 0.5);
  EXPECT_DOUBLE_EQ(report.gap_parts.tail, 0.5);
  EXPECT_DOUBLE_EQ(sum_of(report.gap_parts), report.total_time - report.lower_bound);
}

TEST(Report, AHeavyRuleKeepsSeveralWorkersBusy) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 2)};
  rules[0].weight = 2;
  const run_report report = make_report(record_of(2, 2, rules));
  EXPECT_DOUBLE_EQ(report.lower_bound, 2);
  EXPECT_DOUBLE_EQ(report.work, 4);
  EXPECT_DOUBLE_EQ(sum_of(report.gap_parts), 0);
}

TEST(Report, ThePartsOfTheGapAddUpToItForEverySchedule) {
  EXPECT_TRUE(test::holds("the parts add up", [](std::uint64_t seed) {
    const run_report report = make_report(test::random_run(seed));
    const gap_parts& parts = report.gap_parts;
    for (const double part : {parts.dependency, parts.tail, parts.admission, parts.overhead}) {
      RC_ASSERT(part >= -1e-9);
    }
    RC_ASSERT(std::abs(sum_of(parts) - (report.total_time - report.lower_bound)) < 1e-6);
  }));
}

TEST(Report, WhateverARecordSaysTheFiguresAreNumbers) {
  EXPECT_TRUE(test::holds("figures are finite", [](std::uint64_t seed) {
    const run_report report = make_report(test::senseless_run(seed));
    for (const double figure :
         {report.avg_worker_utilization, report.utilization_variance, report.overall_efficiency,
          report.steal_percentage, report.avg_prediction_error, report.lower_bound, report.gap,
          sum_of(report.gap_parts), report.batches[0].utilisation, report.batches[0].predicted}) {
      RC_ASSERT(std::isfinite(figure));
    }
    RC_ASSERT(report.steal_percentage <= 100);
    RC_ASSERT(report.total_steals == report.batches[0].steals + report.batches[1].steals);
    for (const worker_report& each : report.worker_stats) {
      RC_ASSERT(each.utilisation >= 0 && each.utilisation <= 100);
    }
  }));
}

TEST(Report, PredictionErrorIsWeighedByWhatRulesTook) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 9), ran("b", 1, 0, 1)};
  rules[1].predicted = 2;
  EXPECT_DOUBLE_EQ(make_report(record_of(2, 9, rules)).avg_prediction_error, 10);
}

TEST(Report, ARunIsWarmWhenMostCostsWereLearned) {
  run_record record = record_of(2, 1, {ran("a", 0, 0, 1), ran("b", 1, 0, 1), ran("c", 1, 0, 0)});
  EXPECT_EQ(make_report(record).mode, "adaptive_cold");
  record.rules[0].source = record.rules[1].source = cost_source::profile;
  EXPECT_EQ(make_report(record).mode, "adaptive_warm");
  record.fixed = true;
  EXPECT_EQ(make_report(record).mode, "fixed");
}

TEST(Report, ARunOfNothingIsPerfect) {
  const run_report report = make_report(record_of(8, 0, {}));
  EXPECT_TRUE(report.passed());
  EXPECT_DOUBLE_EQ(report.gap, 1);
  EXPECT_DOUBLE_EQ(report.avg_worker_utilization, 0);
}

TEST(Report, JsonHasTheFieldsOfTheSourceAndOurs) {
  run_record record = record_of(2, 3, {ran("a", 0, 0, 2), ran("b", 1, 0, 2), ran("c", 0, 2, 1)});
  record.rules[2].status = rule_status::failed;
  record.rules[2].exit_code = 3;
  record.rules[2].output = "no \xFF such file";
  const auto json = nlohmann::json::parse(to_json(make_report(record)));
  for (const char* const field : {"name",
                                  "mode",
                                  "workers",
                                  "total_time",
                                  "total_rules",
                                  "passed_count",
                                  "failed_count",
                                  "avg_worker_utilization",
                                  "min_worker_utilization",
                                  "max_worker_utilization",
                                  "utilization_variance",
                                  "overall_efficiency",
                                  "total_steals",
                                  "steal_percentage",
                                  "avg_prediction_error",
                                  "batch_workers",
                                  "batch_times",
                                  "lower_bound",
                                  "gap",
                                  "critical_path",
                                  "gap_parts",
                                  "worker_stats",
                                  "rules"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  EXPECT_EQ(json["failed_count"], 1);
  for (const char* const field : {"id", "status", "start", "duration", "predicted", "worker",
                                  "attempts", "exit_code", "peak_rss"}) {
    EXPECT_TRUE(json["rules"][2].contains(field)) << field;
  }
  EXPECT_EQ(json["rules"][2]["exit_code"], 3);
  EXPECT_EQ(json["rules"][0]["exit_code"], nullptr);
}

}  // namespace
}  // namespace weft
