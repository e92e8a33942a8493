#include <weft/batch/trace.hpp>

#include <map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <batch/records.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using json = nlohmann::json;
using test::ran;
using test::record_of;
using ::testing::ElementsAre;

json events_of(const run_record& record) {
  return json::parse(to_trace(make_report(record))).at("traceEvents");
}

std::vector<json> with_phase(const json& events, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : events) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

// Times as whole nanoseconds, which is how precise the file is.
std::int64_t begin_of(const json& event) {
  return std::llround(event.at("ts").get<double>() * 1e3);
}
std::int64_t end_of(const json& slice) {
  return begin_of(slice) + std::llround(slice.at("dur").get<double>() * 1e3);
}

// The name of the slice in which an end of an arrow lies; empty if there is none.
std::string slice_at(const std::vector<json>& slices, const json& end) {
  for (const json& each : slices) {
    if (each.at("tid") == end.at("tid") && begin_of(each) <= begin_of(end) &&
        begin_of(end) < end_of(each)) {
      return each.at("name");
    }
  }
  return "";
}

// "a after b" for each arrow from the slice of b to the one of a.
std::vector<std::string> arrows_of(const json& events, const std::string& category) {
  const auto slices = with_phase(events, "X");
  std::map<std::uint64_t, std::string> from;
  std::vector<std::string> found;
  for (const json& each : with_phase(events, "s")) {
    from[each.at("id")] = slice_at(slices, each);
  }
  for (const json& each : with_phase(events, "f")) {
    if (each.at("cat") != category) continue;
    found.push_back(slice_at(slices, each) + " " + each.at("name").get<std::string>() + " " +
                    from.at(each.at("id")));
  }
  return found;
}

TEST(Trace, EveryWorkerHasANamedTrackAlsoOneThatRanNothing) {
  std::vector<std::string> names;
  for (const json& each : with_phase(events_of(record_of(2, 1, {ran("a", 0, 0, 1)})), "M")) {
    if (each.at("name") == "thread_name") names.push_back(each.at("args").at("name"));
  }
  EXPECT_THAT(names, ElementsAre("worker 0", "worker 1"));
}

TEST(Trace, ASliceSaysWhatWasExpectedOfTheRuleAndWhatCameOfIt) {
  run_record record = record_of(1, 4, {ran("a", 0, 2, 2)});
  rule_record& rule = record.rules[0];
  rule.status = rule_status::failed;
  rule.name = "A";
  rule.weight = 2;
  rule.predicted = 1.5;
  rule.source = cost_source::profile;
  rule.exit_code = 3;
  rule.message = std::string(5000, 'x');
  rule.earlier = {{.worker = 0, .start = 0, .duration = 1}};
  const auto slices = with_phase(events_of(record), "X");
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0]["args"]["status"], "repeated");
  EXPECT_EQ(slices[0]["args"]["attempt"], 1);
  EXPECT_FALSE(slices[0]["args"].contains("exit_code"));
  EXPECT_EQ(slices[1]["ts"], 2e6);
  EXPECT_EQ(slices[1]["dur"], 2e6);
  const json& arguments = slices[1]["args"];
  EXPECT_EQ(arguments["status"], "failed");
  EXPECT_EQ(arguments["attempt"], 2);
  EXPECT_EQ(arguments["predicted"], 1.5);
  EXPECT_EQ(arguments["predicted_from"], "profile");
  EXPECT_EQ(arguments["slack"], 0);
  EXPECT_EQ(arguments["critical"], true);
  EXPECT_EQ(arguments["exit_code"], 3);
  EXPECT_EQ(arguments["weight"], 2);
  EXPECT_EQ(arguments["name"], "A");
  EXPECT_LT(arguments["message"].get<std::string>().size(), 600U);
}

TEST(Trace, WhatCouldHaveBeenSlowerHasSlackAndIsNotCritical) {
  const auto slices =
      with_phase(events_of(record_of(2, 4, {ran("a", 0, 0, 4), ran("b", 1, 0, 1)})), "X");
  EXPECT_EQ(slices[1]["args"]["slack"], 3);
  EXPECT_EQ(slices[1]["args"]["critical"], false);
}

TEST(Trace, ARuleHasOneArrowFromWhatItWaitedForLongest) {
  const json events = events_of(
      record_of(2, 4, {ran("a", 0, 0, 1), ran("b", 1, 0, 3), ran("c", 0, 3, 1, {"a", "b"})}));
  EXPECT_THAT(arrows_of(events, "dependency"), ElementsAre("c after b"));
}

TEST(Trace, ARuleThatWaitedForABatchHasAnArrowFromItsLastRule) {
  run_record record =
      record_of(2, 4, {ran("a", 0, 0, 1), ran("b", 1, 0, 3), ran("c", 0, 3, 1), ran("d", 1, 3, 1)});
  record.batches = {{.id = "x"}, {.id = "y", .after = {"x"}}};
  for (std::size_t i = 0; i < 4; ++i) record.rules[i].batch = i < 2 ? "x" : "y";
  EXPECT_THAT(arrows_of(events_of(record), "dependency"), ElementsAre("c after b", "d after b"));
}

TEST(Trace, ARuleThatWasStolenHasAnArrowFromWhatTheVictimRanThen) {
  run_record record = record_of(2, 3, {ran("a", 0, 0, 2), ran("b", 1, 1, 1)});
  record.rules[1].stolen_from = 0;
  EXPECT_THAT(arrows_of(events_of(record), "steal"), ElementsAre("b stolen a"));
  // Had the victim just ended its rule, there would be nothing to draw the arrow from.
  record.rules[0].duration = 1;
  EXPECT_THAT(arrows_of(events_of(record), "steal"), ElementsAre());
  record.rules[1].stolen_from = 77;
  EXPECT_THAT(arrows_of(events_of(record), "steal"), ElementsAre());
}

TEST(Trace, CountersTellReadyAndRunningRulesAndTheirMemory) {
  run_record record = record_of(1, 3, {ran("a", 0, 0, 1), ran("b", 0, 1, 2)});
  record.rules[1].ready = 0;
  record.rules[0].peak_rss = 100;
  record.rules[1].peak_rss = 7;
  std::vector<std::string> seen;
  for (const json& each : with_phase(events_of(record), "C")) {
    seen.push_back(std::to_string(begin_of(each) / 1'000'000'000) + " " + each.at("args").dump());
  }
  EXPECT_THAT(seen, ElementsAre(R"(0 {"ready":1,"running":1})", R"(0 {"bytes":100})",
                                R"(1 {"ready":0,"running":1})", R"(1 {"bytes":7})",
                                R"(3 {"ready":0,"running":0})", R"(3 {"bytes":0})"));
}

TEST(Trace, ARunOfNothingAndOneThatWasCutOffHaveATrace) {
  EXPECT_TRUE(with_phase(events_of(record_of(1, 0, {})), "X").empty());
  run_record record = record_of(1, 1, {ran("a", 0, 0, 1), {.id = "b", .after = {"a"}}});
  EXPECT_EQ(with_phase(events_of(record), "X").size(), 1U);
}

TEST(Trace, SlicesNestAndArrowsJoinSlicesInEveryRun) {
  EXPECT_TRUE(test::holds("a trace keeps to the format", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed);
    const json events = events_of(record);
    const auto slices = with_phase(events, "X");
    RC_ASSERT(slices.size() == record.rules.size());
    std::map<int, std::int64_t> free_since;
    for (const json& each : slices) {  // by worker and time
      std::int64_t& free = free_since[each.at("tid").get<int>()];
      RC_ASSERT(begin_of(each) >= free);
      free = end_of(each);
    }
    const auto starts = with_phase(events, "s");
    const auto ends = with_phase(events, "f");
    RC_ASSERT(starts.size() == ends.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      RC_ASSERT(starts[i].at("id") == ends[i].at("id"));
      RC_ASSERT(begin_of(starts[i]) <= begin_of(ends[i]));
      RC_ASSERT(!slice_at(slices, starts[i]).empty());
      RC_ASSERT(!slice_at(slices, ends[i]).empty());
    }
  }));
}

}  // namespace
}  // namespace weft::batch
