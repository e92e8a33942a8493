#include <weft/batch/html_report.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <batch/html_page.hpp>
#include <batch/made_runs.hpp>

namespace weft::batch {
namespace {

using nlohmann::json;
using test::data_of;
using test::data_text;
using test::unpacked;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

std::string page_of(const run_record& record, const html_options& options = {}) {
  return to_html(make_report(record), options);
}

TEST(HtmlReport, IsOnePageThatLoadsNothing) {
  const std::string page = page_of(test::make_run());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_EQ(count_of(page, "http://"), count_of(page, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(count_of(page, "https://"), 0U);
  EXPECT_EQ(count_of(page, "innerHTML"), 0U);
}

TEST(HtmlReport, IsTheSameForTheSameRun) {
  const run_record record = test::make_run();
  EXPECT_EQ(page_of(record), page_of(record));
}

TEST(HtmlReport, TellsTimesToTheMicrosecond) {
  const run_record record = test::make_run();
  const json data = data_of(page_of(record));
  const auto start = unpacked(data["rules"]["start"]);
  const auto duration = unpacked(data["rules"]["duration"]);
  const auto worker = unpacked(data["rules"]["worker"]);
  ASSERT_EQ(start.size(), record.rules.size());
  ASSERT_EQ(duration.size(), record.rules.size());
  for (std::size_t r = 0; r < record.rules.size(); ++r) {
    EXPECT_NEAR(static_cast<double>(start[r]), record.rules[r].start * 1e6, 0.51);
    EXPECT_NEAR(static_cast<double>(duration[r]), record.rules[r].duration * 1e6, 0.51);
    EXPECT_EQ(worker[r], record.rules[r].worker);
  }
}

TEST(HtmlReport, AgreesWithTheReportOfTheRun) {
  run_record record = test::make_run();
  test::break_rules(record);
  const run_report report = make_report(record);
  const json data = data_of(to_html(report));
  EXPECT_NEAR(data["time"].get<double>(), report.total_time, 1e-6);
  EXPECT_NEAR(data["bound"].get<double>(), report.lower_bound, 1e-6);
  EXPECT_EQ(data["counts"]["passed"], report.passed_count);
  EXPECT_EQ(data["counts"]["failed"], report.failed_count);
  EXPECT_EQ(data["counts"]["skipped"], report.skipped_count);
  const auto critical = unpacked(data["critical"]);
  ASSERT_EQ(critical.size(), report.critical_rules.size());
  for (std::size_t i = 0; i < critical.size(); ++i) {
    EXPECT_EQ(data["rules"]["id"][critical[i]], report.critical_rules[i]);
  }
  const auto stolen = unpacked(data["rules"]["stolenFrom"]);
  const auto none = static_cast<std::size_t>(std::ranges::count(stolen, 0U));
  EXPECT_EQ(stolen.size() - none, report.total_steals);
}

TEST(HtmlReport, IdleTimeOfEachWorkerAndItsBusyTimeMakeUpTheRun) {
  const run_record record = test::make_run();
  const run_report report = make_report(record);
  const auto sums = unpacked(data_of(to_html(report))["idle"]["sums"]);
  ASSERT_EQ(sums.size(), std::size_t{4} * record.workers);
  for (std::size_t w = 0; w < record.workers; ++w) {
    const auto idle = sums[4 * w] + sums[4 * w + 1] + sums[4 * w + 2] + sums[4 * w + 3];
    EXPECT_NEAR(static_cast<double>(idle) / 1e6 + report.worker_stats[w].busy, report.total_time,
                1e-4);
  }
}

TEST(HtmlReport, ARuleWaitedForTheLastToEndOfThoseItComesAfter) {
  run_record record{.id = "run", .plan = "plan"};
  record.workers = 2;
  record.elapsed = 3;
  record.batches = {{.id = "first"}, {.id = "second", .after = {"first"}}};
  const auto add = [&](std::string id, std::string batch, unsigned worker, double start,
                       double end) {
    rule_record rule{.id = std::move(id), .batch = std::move(batch)};
    rule.status = rule_status::passed;
    rule.worker = worker;
    rule.ready = rule.start = start;
    rule.duration = end - start;
    rule.attempts = 1;
    record.rules.push_back(std::move(rule));
  };
  add("short", "first", 0, 0, 1);
  add("long", "first", 1, 0, 2);
  add("next", "second", 0, 2, 3);
  const json data = data_of(page_of(record));
  EXPECT_EQ(unpacked(data["rules"]["waitedFor"]), (std::vector<std::uint64_t>{0, 0, 2}));
}

TEST(HtmlReport, NothingARuleSaysCanEndTheScriptItStandsIn) {
  const std::string hostile[] = {
      "</script><img src=x onerror=alert(1)>",
      "<!--<script>",
      "]]>\"'`{{data}}${alert(1)}",
      "line\u2028separator\u2029paragraph",
      "\x1b[31mred\x1b[0m\r\n\x07",
      std::string("nul\0byte", 8),
      "not \xFF UTF-8 \xC3",
  };
  run_record record = test::make_run({.batches = {std::size(hostile)}, .workers = 2});
  record.plan = hostile[0];
  record.id = hostile[1];
  record.batches[0].name = hostile[0];
  for (std::size_t i = 0; i < std::size(hostile); ++i) {
    rule_record& rule = record.rules[i];
    if (i < 4) rule.id = hostile[i];
    rule.name = hostile[i];
    rule.status = rule_status::failed;
    rule.message = hostile[i];
    rule.output = hostile[i];
  }
  run_report report = make_report(record);
  report.warnings = {hostile[0]};
  const std::string page = to_html(report);
  const std::string plain = page_of(test::make_run({.batches = {1}, .workers = 1}));
  for (const std::string_view tag : {"<script", "</script", "<!--", "<img"}) {
    EXPECT_EQ(count_of(page, tag), count_of(plain, tag)) << tag;
  }
  const std::string_view text = data_text(page);
  EXPECT_EQ(text.find_first_of("<>"), std::string_view::npos);
  EXPECT_EQ(text.find("\u2028"), std::string_view::npos);
  const json data = json::parse(text);
  EXPECT_EQ(data["plan"], hostile[0]);
  EXPECT_EQ(data["rules"]["id"][0], hostile[0]);
  EXPECT_EQ(data["notes"]["0"]["output"], hostile[0]);
  // A cursor that moves, or a byte that is no text, is shown as what it is.
  EXPECT_EQ(data["rules"]["name"]["4"], R"(\x1b[31mred\x1b[0m\r\n\x07)");
  EXPECT_THAT(data["rules"]["name"]["6"].get<std::string>(), HasSubstr(R"(\xff)"));
}

TEST(HtmlReport, TenThousandRulesWithTheirHistoryAreLessThanAMegabyte) {
  run_record record =
      test::make_run({.batches = {1000, 2000, 3000, 4000}, .parents = 3, .workers = 32});
  test::break_rules(record);
  for (rule_record& rule : record.rules) {
    rule.peak_rss = std::uint64_t{5} << 20U;
    rule.cpu = rule.duration;
  }
  const std::string page = page_of(record, {.past = test::make_history(record, 20)});
  EXPECT_LT(page.size(), 1'000'000U);
  RecordProperty("bytes", static_cast<int>(page.size()));
}

TEST(HtmlReport, TenThousandFailuresWithLongOutputsAreLessThanAMegabyte) {
  run_record record = test::make_run({.batches = {5000, 5000}, .workers = 32});
  for (rule_record& rule : record.rules) {
    rule.status = rule_status::failed;
    rule.message = std::string(2000, 'm');
    rule.output = std::string(50'000, '\x01');
  }
  const std::string page = page_of(record);
  EXPECT_LT(page.size(), 1'000'000U);
  // The page says that it does not tell everything.
  const json data = data_of(page);
  EXPECT_GT(data["notes"].size(), 0U);
  EXPECT_EQ(data["notes"].size() + data["notesLeftOut"].get<std::size_t>(), record.rules.size());
}

TEST(HtmlReport, NamesAreLeftOutOnlyWhenTheyAreTooMany) {
  run_record record = test::make_run({.batches = {5000, 5000}, .workers = 32});
  record.rules[7].name = "the seventh";
  EXPECT_EQ(data_of(page_of(record))["rules"]["name"], json({{"7", "the seventh"}}));
  for (rule_record& rule : record.rules) rule.name = std::string(60, 'n');
  EXPECT_EQ(data_of(page_of(record))["rules"]["name"], nullptr);
}

TEST(HtmlReport, ALongOutputKeepsItsEndAndWholeCharacters) {
  run_record record = test::make_run({.batches = {1}, .workers = 1});
  record.rules[0].status = rule_status::failed;
  for (int i = 0; i < 40'000; ++i) record.rules[0].output += "\u00e9";
  record.rules[0].output += "the end";
  const json note = data_of(page_of(record))["notes"]["0"];
  const std::string output = note["output"];
  EXPECT_TRUE(output.starts_with("\u00e9")) << output.substr(0, 8);
  EXPECT_TRUE(output.ends_with("the end"));
  EXPECT_EQ(note["cut"], true);
}

TEST(HtmlReport, RulesThatSimplyPassedSayNothing) {
  run_record record = test::make_run({.batches = {1}, .workers = 1});
  record.rules[0].message = "all is well";
  record.rules[0].output = "x";
  EXPECT_TRUE(data_of(page_of(record))["notes"].empty());
}

TEST(HtmlReport, ARunOfNothingHasAPage) {
  run_record record{.id = "run", .plan = "nothing"};
  record.workers = 4;
  const json data = data_of(page_of(record));
  EXPECT_EQ(data["counts"]["rules"], 0);
  EXPECT_TRUE(data["rules"]["id"].empty());
  EXPECT_FALSE(data.contains("history"));
}

TEST(HtmlReport, ARunThatWasCutOffShowsWhatRan) {
  run_record record = test::make_run();
  record.ending = run_ending::none;
  record.elapsed /= 2;
  for (rule_record& rule : record.rules) {
    if (rule.end() <= record.elapsed) continue;
    rule_record planned{.id = rule.id, .batch = rule.batch, .after = rule.after};
    planned.predicted = rule.predicted;
    rule = planned;
  }
  const run_report report = make_report(record);
  ASSERT_GT(report.waiting_count, 0U);
  ASSERT_GT(report.passed_count, 0U);
  const json data = data_of(to_html(report));
  EXPECT_EQ(data["ending"], "none");
  EXPECT_EQ(data["counts"]["waiting"], report.waiting_count);
}

TEST(HtmlReport, ARunInWhichNothingBeganHasAPage) {
  run_record record = test::make_run({.batches = {3}, .workers = 2});
  record.elapsed = 0;
  for (rule_record& rule : record.rules) {
    rule.status = rule_status::waiting;
    rule.start = rule.duration = rule.ready = 0;
    rule.stolen_from.reset();
  }
  const json data = data_of(page_of(record));
  EXPECT_EQ(data["counts"]["waiting"], 3);
  EXPECT_EQ(data["bound"], 0.0);
}

TEST(HtmlReport, OneWorkerAndAThousandHaveAPage) {
  for (const unsigned workers : {1U, 1024U}) {
    const run_record record = test::make_run({.workers = workers});
    const json data = data_of(page_of(record));
    EXPECT_EQ(data["workers"], workers);
    EXPECT_EQ(unpacked(data["idle"]["sums"]).size(), std::size_t{4} * workers);
  }
}

TEST(HtmlReport, AHeavyRuleSaysForHowManyWorkersItCounts) {
  run_record record = test::make_run({.batches = {1}, .workers = 2});
  record.rules[0].weight = 2;
  const json data = data_of(page_of(record));
  EXPECT_EQ(unpacked(data["rules"]["weight"]), std::vector<std::uint64_t>{2});
  EXPECT_EQ(unpacked(data["idle"]["sums"]), (std::vector<std::uint64_t>(8, 0)));
}

TEST(HtmlReport, HistoryHasASparklineForEveryRule) {
  const run_record record = test::make_run({.batches = {2, 3}, .workers = 2});
  const json past = data_of(page_of(record, {.past = test::make_history(record, 5)}))["history"];
  const std::string lines = past["sparklines"];
  const std::size_t length = past["sparklineRuns"];
  ASSERT_EQ(lines.size(), length * record.rules.size());
  EXPECT_EQ(std::ranges::count(lines, ' '), static_cast<long>((length - 5) * record.rules.size()));
  EXPECT_EQ(unpacked(past["runs"], record.rules.size()), (std::vector<std::uint64_t>(5, 5)));
}

TEST(HtmlReport, MeasuredTimesStandBesideTheSimulatedOnesOfTheSameName) {
  const run_record record = test::make_run({.batches = {2, 30}, .workers = 2});
  const std::size_t ways = all_variants(record).size();
  measured_variant known;
  known.how = all_variants(record).front();
  known.times = {1, 2, 3};
  known.time = {.mean = 2, .low = -1, .high = 3};
  measured_variant other = known;
  other.how.name = "by hand";
  other.time = mean_of(std::vector<double>{2});  // once: without an interval
  html_options options;
  options.benchmark.emplace().variants = {known, other};
  const json variants = data_of(page_of(record, options))["variants"];
  ASSERT_EQ(variants.size(), ways + 1);
  EXPECT_EQ(variants[0]["mean"], 2.0);
  EXPECT_EQ(variants[0]["low"], 0.0);
  EXPECT_EQ(variants[0]["high"], 3.0);
  EXPECT_GT(variants[0]["simulated"].get<double>(), 0);
  EXPECT_EQ(variants.back()["name"], "by hand");
  EXPECT_EQ(variants.back()["mean"], 2.0);
  EXPECT_FALSE(variants.back().contains("low"));
  EXPECT_FALSE(variants.back().contains("simulated"));
}

TEST(PackedNumbers, ComeBackAsTheyWere) {
  packed_numbers packed;
  const std::vector<std::uint64_t> numbers = {0,    1,       31,         32,
                                              1023, 1 << 20, 0xFFFFFFFF, std::uint64_t{1} << 52U};
  for (const std::uint64_t each : numbers) packed.add(each);
  EXPECT_EQ(unpacked(packed.text()), numbers);
}

TEST(PackedNumbers, AreOneWhenAllAreTheSame) {
  packed_numbers same;
  packed_numbers different;
  EXPECT_EQ(same.squeezed(), "");
  for (const unsigned each : {70U, 70U, 70U}) same.add(each);
  for (const unsigned each : {70U, 71U, 70U}) different.add(each);
  EXPECT_EQ(unpacked(same.squeezed()), std::vector<std::uint64_t>{70});
  EXPECT_EQ(different.squeezed(), different.text());
}

TEST(PackedNumbers, TimesThatNoClockSaysBecomeTheNearestPossible) {
  packed_numbers packed;
  for (const double time : {-1.0, std::nan(""), 1e300, 4e-7, 6e-7}) packed.add_seconds(time);
  EXPECT_EQ(unpacked(packed.text()),
            (std::vector<std::uint64_t>{0, 0, std::uint64_t{1} << 52U, 0, 1}));
}

}  // namespace
}  // namespace weft::batch
