#include <weft/batch/formats.hpp>

#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <batch/records.hpp>
#include <support/property.hpp>

namespace weft {
namespace {

using json = nlohmann::json;
using test::ran;
using test::record_of;
using ::testing::HasSubstr;

rule_record with(rule_record rule, rule_status status, std::string message = {}) {
  rule.status = status;
  rule.message = std::move(message);
  return rule;
}

// A rule of every status.
run_record sample() {
  run_record record =
      record_of(2, 4,
                {ran("good", 0, 0, 0.5),
                 with(ran("bad", 1, 0, 0.25), rule_status::failed, "exit code 3"),
                 with(ran("slow", 0, 1, 1), rule_status::timed_out, "timed out after 1 s"),
                 with(ran("odd", 1, 1, 1), rule_status::warned, "too long"),
                 with(ran("shaky", 0, 2, 1), rule_status::flaky, "exit code 1"),
                 with({.id = "next", .after = {"bad"}}, rule_status::skipped),
                 {.id = "never"}});
  record.started = 1767225600.25;
  record.ending = run_ending::interrupted;
  record.batches = {{.id = "x", .name = "First"}, {.id = ""}};
  record.rules[0].batch = record.rules[1].batch = "x";
  record.rules[1].name = "Bad one";
  record.rules[1].exit_code = 3;
  record.rules[1].output = "why\nand how\n";
  record.rules[3].findings = {{.file = "src/a b.txt", .line = 7, .message = "has TODO"}};
  record.rules[4].attempts = 2;
  record.rules[4].earlier = {{.worker = 0, .start = 1, .duration = 1}};
  record.rules[5].skipped_for = "bad";
  return record;
}

std::string formatted(const run_record& record, report_format format) {
  return to_format(make_report(record), format);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Formats, HaveNamesThatAreTakenBack) {
  for (const report_format each : {report_format::json, report_format::junit, report_format::tap,
                                   report_format::sarif, report_format::github}) {
    EXPECT_EQ(report_format_of(name_of(each)), each);
  }
  EXPECT_EQ(report_format_of("text"), std::nullopt);
}

TEST(Formats, JsonIsTheReport) {
  EXPECT_EQ(formatted(sample(), report_format::json), to_json(make_report(sample())));
}

TEST(Junit, HasASuiteABatchAndACaseARule) {
  EXPECT_EQ(formatted(sample(), report_format::junit),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="plan" tests="7" failures="1" errors="1" skipped="2" time="4.000000">
  <testsuite name="First" tests="2" failures="1" errors="0" skipped="0" time="0.500000" timestamp="2026-01-01T00:00:00">
    <testcase name="good" classname="plan.x" time="0.500000"/>
    <testcase name="bad: Bad one" classname="plan.x" time="0.250000">
      <failure message="exit code 3" type="failed">exit code 3</failure>
      <system-out>why
and how
</system-out>
    </testcase>
  </testsuite>
  <testsuite name="plan" tests="5" failures="0" errors="1" skipped="2" time="2.000000" timestamp="2026-01-01T00:00:01">
    <testcase name="slow" classname="plan" time="1.000000">
      <error message="timed out after 1 s" type="timed_out">timed out after 1 s</error>
    </testcase>
    <testcase name="odd" classname="plan" time="1.000000">
      <system-out>warning: too long
</system-out>
    </testcase>
    <testcase name="shaky" classname="plan" time="1.000000">
      <flakyFailure message="attempt 1 failed: exit code 1" type="repeated"/>
    </testcase>
    <testcase name="next" classname="plan" time="0.000000">
      <skipped message="comes after bad, which failed"/>
    </testcase>
    <testcase name="never" classname="plan" time="0.000000">
      <skipped message="never began: the run was interrupted"/>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, AFailureThatWasRepeatedHasItsAttempts) {
  run_record record = record_of(1, 3, {with(ran("a", 0, 2, 1), rule_status::failed)});
  record.rules[0].earlier = {{.start = 0, .duration = 1}, {.start = 1, .duration = 1}};
  const std::string text = formatted(record, report_format::junit);
  EXPECT_EQ(count(text, "<rerunFailure "), 2U);
  EXPECT_EQ(count(text, "<failure "), 1U);
}

TEST(Junit, CharactersThatXmlCannotHaveAreShownOrReplaced) {
  run_record record = record_of(1, 1, {with(ran("a\"<&>", 0, 0, 1), rule_status::failed)});
  record.rules[0].name = "b\n";
  record.rules[0].output = "]]> \x1b[1m \xff \xEF\xBF\xBF \x7f end";
  const std::string text = formatted(record, report_format::junit);
  EXPECT_THAT(text, HasSubstr(R"(name="a&quot;&lt;&amp;&gt;: b&#10;")"));
  EXPECT_THAT(text, HasSubstr("<system-out>]]&gt; \\x1b[1m \xEF\xBF\xBD \xEF\xBF\xBD \\x7f end<"));
}

TEST(Tap, HasAPointARuleAndSaysThatRulesWereLeftOut) {
  EXPECT_EQ(formatted(sample(), report_format::tap), R"(TAP version 14
1..7
ok 1 - good
not ok 2 - bad: Bad one
  ---
  message: "exit code 3"
  severity: fail
  status: failed
  duration_ms: 250.000000
  exit_code: 3
  output:
    - "why"
    - "and how"
  ...
not ok 3 - slow
  ---
  message: "timed out after 1 s"
  severity: fail
  status: timed_out
  duration_ms: 1000.000000
  ...
not ok 4 - odd # TODO warning: too long
  ---
  message: "too long"
  severity: comment
  status: warned
  duration_ms: 1000.000000
  findings:
    - file: "src/a b.txt"
      line: 7
      message: "has TODO"
  ...
ok 5 - shaky
  ---
  message: "exit code 1"
  severity: comment
  status: flaky
  duration_ms: 1000.000000
  attempts: 2
  ...
ok 6 - next # SKIP comes after bad, which failed
ok 7 - never # SKIP never began: the run was interrupted
Bail out! The run was interrupted: 1 of 7 rules never began
)");
}

TEST(Tap, TextHasNoCharacterThatYamlRefuses) {
  const run_record record =
      record_of(1, 1, {with(ran("a", 0, 0, 1), rule_status::failed, "\uFFFE \uFFFF \u0085 \x7F")});
  EXPECT_THAT(formatted(record, report_format::tap),
              HasSubstr("message: \"\uFFFD \uFFFD \\\\xc2\\\\x85 \\\\x7f\"\n"));
}

TEST(Tap, ANameCannotBeADirectiveOrEndTheLine) {
  run_record record = record_of(1, 1, {ran("a", 0, 0, 1)});
  record.rules[0].name = "b # SKIP\nnot ok 2 \\";
  EXPECT_EQ(lines_of(formatted(record, report_format::tap)).at(2),
            R"(ok 1 - a: b \# SKIP\\nnot ok 2 \\)");
}

TEST(Tap, ARunOfNothingIsSkipped) {
  run_record record = record_of(1, 0, {});
  EXPECT_EQ(formatted(record, report_format::tap),
            "TAP version 14\n1..0 # SKIP there are no rules\n");
}

TEST(Sarif, HasARuleForEachAndAResultForWhatFailedWarnedOrWasFlaky) {
  const json run = json::parse(formatted(sample(), report_format::sarif)).at("runs").at(0);
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 7U);
  std::map<std::string, std::string> levels;
  for (const json& result : run["results"]) {
    levels[result["ruleId"]] = result["level"];
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
              result["ruleId"]);
  }
  EXPECT_EQ(levels,
            (std::map<std::string, std::string>{
                {"bad", "error"}, {"slow", "error"}, {"odd", "warning"}, {"shaky", "note"}}));
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(run["invocations"][0]["startTimeUtc"], "2026-01-01T00:00:00.250Z");
  EXPECT_EQ(run["invocations"][0]["endTimeUtc"], "2026-01-01T00:00:04.250Z");
}

TEST(Sarif, AFindingHasItsPlace) {
  run_record record = record_of(1, 1, {with(ran("a", 0, 0, 1), rule_status::failed, "two things")});
  record.rules[0].findings = {{.file = "src/a b:\xff.txt", .line = 7, .message = "has TODO"},
                              {.file = "/etc/x"}};
  const json results = json::parse(formatted(record, report_format::sarif))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["message"]["text"], "has TODO");
  const json first = results[0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(first["artifactLocation"]["uri"], "src/a%20b%3A%FF.txt");
  EXPECT_EQ(first["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(first["region"]["startLine"], 7);
  EXPECT_EQ(results[1]["message"]["text"], "two things");
  const json second = results[1]["locations"][0]["physicalLocation"];
  EXPECT_EQ(second["artifactLocation"], (json{{"uri", "file:///etc/x"}}));
  EXPECT_FALSE(second.contains("region"));
}

TEST(Github, AnnotatesWhatFailedWarnedOrWasFlakyAndEndsWithTheCounts) {
  EXPECT_EQ(formatted(sample(), report_format::github),
            R"(::error title=bad%3A Bad one::exit code 3
::error title=slow::timed out after 1 s
::warning file=src/a b.txt,line=7,title=odd::has TODO
::warning title=shaky::flaky: passed at attempt 2; before that: exit code 1
::notice title=plan::7 rules: 3 passed, 2 failed, 1 warned, 1 flaky, 1 skipped, 1 never began; the run was interrupted
)");
}

TEST(Github, NothingCanEndACommandOrBeginAnother) {
  run_record record =
      record_of(1, 1, {with(ran("a,b", 0, 0, 1), rule_status::failed, "100%\r\n::debug::x")});
  record.ending = run_ending::complete;
  record.rules[0].name = "\n::error::";
  record.rules[0].findings = {{.file = "a,line=3:b"}};
  EXPECT_EQ(
      formatted(record, report_format::github),
      "::error file=a%2Cline=3%3Ab,title=a%2Cb%3A \\n%3A%3Aerror%3A%3A::100%25\\r%0A::debug::x\n"
      "::notice title=plan::1 rules: 0 passed, 1 failed\n");
}

TEST(Github, ShowsNoMoreThanTenFindingsOfARule) {
  run_record record = record_of(1, 1, {with(ran("a", 0, 0, 1), rule_status::failed, "many")});
  record.rules[0].findings = std::vector<finding>(30, {.file = "f"});
  EXPECT_EQ(count(formatted(record, report_format::github), "::error "), 10U);
}

// Names and outputs that a format could take for its own.
run_record hostile_run(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  const std::vector<std::string> texts = {
      "",         "x # SKIP",   "\n::error::x\n", "]]>\xff",
      "<failure", "\"\\\r\n\t", "\x01\x1b[0m",    "\xF0\x9F\x98\x80"};
  const std::vector<std::string> ids = {"", " # TODO", "]]>", "\"", "::", "\xF0\x9F\x98\x80"};
  const auto text = [&] { return texts[random() % texts.size()]; };
  run_record record = record_of(2, 3, {});
  record.plan = text();
  record.ending = static_cast<run_ending>(random() % 5);
  record.batches = {{.id = "b", .name = text()}, {.id = ""}};
  for (std::size_t i = 0; i < random() % 12; ++i) {
    rule_record rule = ran(std::to_string(i) + ids[random() % ids.size()], 0, 0, 1);
    rule.status = static_cast<rule_status>(random() % 7);
    rule.name = text();
    rule.batch = random() % 2 == 0 ? "b" : "";
    rule.message = text();
    rule.output = text() + text();
    rule.skipped_for = text();
    rule.signal = random() % 4 == 0 ? 9 : 0;
    if (random() % 2 == 0) rule.findings = {{.file = text(), .message = text()}, {.file = "f"}};
    if (rule.status == rule_status::flaky) rule.earlier = {{.duration = 1}};
    record.rules.push_back(std::move(rule));
  }
  return record;
}

// How many rules have a result of this level.
std::size_t rules_with(const json& results, const std::string& level) {
  std::set<std::string> ids;
  for (const json& each : results) {
    if (each.at("level") == level) ids.insert(each.at("ruleId").get<std::string>());
  }
  return ids.size();
}

TEST(Formats, CountsAgreeWithTheReportWhateverIsInIt) {
  EXPECT_TRUE(test::holds("counts agree", [](std::uint64_t seed) {
    const run_report report = make_report(hostile_run(seed));

    const std::string junit = to_format(report, report_format::junit);
    RC_ASSERT(count(junit, "<testcase ") == report.total_rules);
    RC_ASSERT(count(junit, "<failure ") + count(junit, "<error ") == report.failed_count);
    RC_ASSERT(count(junit, "<skipped ") == report.skipped_count + report.waiting_count);
    RC_ASSERT(count(junit, "<flakyFailure ") == report.flaky_count);
    RC_ASSERT(count(junit, "<system-out>warning: ") == report.warned_count);

    std::size_t ok = 0, not_ok = 0, todo = 0, skip = 0;
    for (const std::string& line : lines_of(to_format(report, report_format::tap))) {
      ok += line.starts_with("ok ") ? 1 : 0;
      not_ok += line.starts_with("not ok ") ? 1 : 0;
      todo += line.find(" # TODO ") != std::string::npos ? 1 : 0;
      skip += line.starts_with("ok ") && line.find(" # SKIP ") != std::string::npos ? 1 : 0;
    }
    RC_ASSERT(ok + not_ok == report.total_rules);
    RC_ASSERT(todo == report.warned_count);
    RC_ASSERT(not_ok - todo == report.failed_count);
    RC_ASSERT(skip == report.skipped_count + report.waiting_count);

    const json sarif = json::parse(to_format(report, report_format::sarif));
    const json& results = sarif.at("runs").at(0).at("results");
    RC_ASSERT(rules_with(results, "error") == report.failed_count);
    RC_ASSERT(rules_with(results, "warning") == report.warned_count);
    RC_ASSERT(rules_with(results, "note") == report.flaky_count);

    std::map<std::string, std::set<std::string>> titles;
    for (const std::string& line : lines_of(to_format(report, report_format::github))) {
      const std::size_t at = line.find("title=");
      titles[line.substr(0, line.find(' '))].insert(line.substr(at, line.find("::", at) - at));
    }
    RC_ASSERT(titles["::error"].size() == report.failed_count);
    RC_ASSERT(titles["::warning"].size() == report.warned_count + report.flaky_count);
    RC_ASSERT(titles["::notice"].size() == 1U);
    RC_ASSERT(titles.size() <= 3U);
  }));
}

}  // namespace
}  // namespace weft
