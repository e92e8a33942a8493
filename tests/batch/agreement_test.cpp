// The outputs of a run say the same, and what its event log says.

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/batch/event_log.hpp>
#include <weft/batch/explain.hpp>
#include <weft/batch/formats.hpp>
#include <weft/batch/html_report.hpp>
#include <weft/batch/report.hpp>
#include <weft/batch/timeline.hpp>
#include <weft/batch/trace.hpp>

#include <batch/html_page.hpp>
#include <batch/records.hpp>
#include <batch/seconds.hpp>
#include <support/property.hpp>
#include <support/temporary_directory.hpp>

namespace weft::batch {
namespace {

using nlohmann::json;

constexpr double microsecond = 1e-6;

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

// A run in which some rules failed, were repeated, skipped or left out.
run_record eventful_run(std::uint64_t seed) {
  run_record record = test::random_run(seed);
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  record.ending = run_ending::interrupted;
  record.started = 1767225600;
  for (rule_record& rule : record.rules) {
    rule.status = static_cast<rule_status>(random() % 7);
    rule.peak_rss = random() % 1000;
    rule.predicted = to_the_nanosecond(rule.predicted);
    rule.ready = to_the_nanosecond(rule.ready);
    rule.start = to_the_nanosecond(rule.start);
    rule.duration = to_the_nanosecond(rule.duration);
    if (rule.status == rule_status::flaky) {
      const double first = to_the_nanosecond(rule.duration / 3);
      rule.earlier = {{.worker = rule.worker, .start = rule.start, .duration = first}};
      rule.start = to_the_nanosecond(rule.start + first);
      rule.duration = to_the_nanosecond(rule.duration - first);
      rule.attempts = 2;
    }
    if (has_run(rule.status)) {
      record.elapsed = std::max(record.elapsed, rule.end());
    } else {
      rule = {.id = rule.id, .after = rule.after, .weight = rule.weight, .status = rule.status};
      if (rule.status == rule_status::skipped) rule.skipped_for = "b0.0";
    }
  }
  record.elapsed = to_the_nanosecond(record.elapsed);
  return record;
}

run_record through_the_log(const run_record& record) {
  const test::temporary_directory directory;
  {
    const auto log = *event_log::create(directory.path(), record);
    for (std::size_t r = 0; r < record.rules.size(); ++r) {
      const rule_record& rule = record.rules[r];
      for (const attempt_record& each : rule.earlier) log->repeated(r, each, "");
      if (has_run(rule.status)) log->finished(r, rule);
      if (rule.status == rule_status::skipped) log->skipped(0, r, rule.skipped_for);
    }
    log->done(record.elapsed, record.ending, {});
  }
  return read_run(directory.path(record.id + ".jsonl")).value().record;
}

double sum_of_attempts(const run_record& record) {
  double sum = 0;
  for (const rule_record& rule : record.rules) {
    for (const attempt_record& each : rule.earlier) sum += each.duration;
    if (has_run(rule.status)) sum += rule.duration;
  }
  return sum;
}

// The values of an attribute, in order.
std::vector<double> numbers_of(const std::string& text, const std::string& tag,
                               const std::string& name) {
  std::vector<double> found;
  for (std::size_t at = 0; (at = text.find("<" + tag + " ", at)) != std::string::npos; ++at) {
    const std::size_t value = text.find(" " + name + "=\"", at) + name.size() + 3;
    found.push_back(std::stod(text.substr(value)));
  }
  return found;
}

TEST(Outputs, OfALogAreThoseOfTheRun) {
  EXPECT_TRUE(test::holds("a log loses nothing", [](std::uint64_t seed) {
    const run_report run = make_report(eventful_run(seed));
    const run_report logged = make_report(through_the_log(run.record));
    for (const report_format format :
         {report_format::json, report_format::junit, report_format::tap, report_format::sarif,
          report_format::github}) {
      RC_ASSERT(to_format(run, format) == to_format(logged, format));
    }
    RC_ASSERT(to_trace(run) == to_trace(logged));
    RC_ASSERT(to_html(run) == to_html(logged));
  }));
}

TEST(Outputs, JsonAndJunitHaveTheTimesOfTheLog) {
  EXPECT_TRUE(test::holds("times agree", [](std::uint64_t seed) {
    const run_record record = eventful_run(seed);
    const run_report report = make_report(record);
    const json made = json::parse(to_json(report));
    const std::string junit = to_format(report, report_format::junit);
    const std::vector<double> junit_times = numbers_of(junit, "testcase", "time");
    RC_ASSERT(near(made.at("total_time"), record.elapsed, microsecond));
    RC_ASSERT(near(numbers_of(junit, "testsuites", "time").at(0), record.elapsed, microsecond));
    double busy = 0;
    for (const json& worker : made.at("worker_stats")) busy += worker.at("busy").get<double>();
    RC_ASSERT(near(busy, sum_of_attempts(record), 1e-4));
    for (std::size_t r = 0; r < record.rules.size(); ++r) {
      const rule_record& rule = record.rules[r];
      const json& told = made.at("rules").at(r);
      RC_ASSERT(told.at("status") == name_of(rule.status));
      RC_ASSERT(told.at("duration").is_null() == !has_run(rule.status));
      RC_ASSERT(near(junit_times.at(r), has_run(rule.status) ? rule.duration : 0, microsecond));
      if (has_run(rule.status)) {
        RC_ASSERT(near(told.at("duration"), rule.duration, microsecond));
        RC_ASSERT(near(told.at("start"), rule.start, microsecond));
      }
    }
  }));
}

TEST(Outputs, ThePageHasTheCountsAndTimesOfTheReport) {
  EXPECT_TRUE(test::holds("the page agrees", [](std::uint64_t seed) {
    const run_record record = eventful_run(seed);
    const run_report report = make_report(record);
    const json data = test::data_of(to_html(report));
    const json figures = json::parse(to_json(report));
    const std::map<std::string, std::string> counts = {
        {"rules", "total_rules"},    {"passed", "passed_count"}, {"failed", "failed_count"},
        {"flaky", "flaky_count"},    {"warned", "warned_count"}, {"skipped", "skipped_count"},
        {"waiting", "not_run_count"}};
    for (const auto& [ours, theirs] : counts) {
      RC_ASSERT(data.at("counts").at(ours) == figures.at(theirs));
    }
    RC_ASSERT(data.at("time") == figures.at("total_time"));
    RC_ASSERT(data.at("bound") == figures.at("lower_bound"));
    RC_ASSERT(data.at("gap") == figures.at("gap"));
    const std::size_t rules = record.rules.size();
    const auto status = test::unpacked(data.at("rules").at("status"), rules);
    const auto duration = test::unpacked(data.at("rules").at("duration"), rules);
    const auto stolen = test::unpacked(data.at("rules").at("stolenFrom"), rules);
    for (std::size_t r = 0; r < rules; ++r) {
      RC_ASSERT(status.at(r) == static_cast<std::uint64_t>(record.rules[r].status));
      RC_ASSERT(
          near(static_cast<double>(duration.at(r)) / 1e6, record.rules[r].duration, microsecond));
    }
    const auto kept = static_cast<std::size_t>(std::ranges::count(stolen, 0U));
    RC_ASSERT(rules - kept == report.total_steals);
  }));
}

TEST(Outputs, AreWellFormedWhateverARecordSays) {
  EXPECT_TRUE(test::holds("outputs are well-formed", [](std::uint64_t seed) {
    const run_record record = test::senseless_run(seed);
    const run_report report = make_report(record);
    for (const std::string& text :
         {to_json(report), to_trace(report), to_format(report, report_format::sarif),
          std::string(test::data_text(to_html(report)))}) {
      const json made = json::parse(text);  // throws what would be wrong
      RC_ASSERT(made.is_object());
    }
    for (const auto format : {report_format::junit, report_format::tap, report_format::github}) {
      RC_ASSERT(!to_format(report, format).empty());
    }
    for (const idle_span& span : idle_spans(record)) {
      RC_ASSERT(span.worker < record.workers && span.begin < span.end);
      RC_ASSERT(span.end <= record.elapsed);
    }
    for (std::size_t r = 0; r < record.rules.size(); ++r) {
      const explanation why = explain(record, r);
      RC_ASSERT(why.slack >= 0 && why.waited_for_room >= 0 && why.waited_for_worker >= 0);
    }
  }));
}

TEST(Outputs, TheTraceHasASliceForEveryAttempt) {
  EXPECT_TRUE(test::holds("the trace agrees", [](std::uint64_t seed) {
    const run_record record = eventful_run(seed);
    const json trace = json::parse(to_trace(make_report(record)));
    std::map<std::string, std::size_t> slices;
    double micros = 0;
    double last = 0;
    std::int64_t running = 0;
    for (const json& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") {
        ++slices[event.at("name")];
        micros += event.at("dur").get<double>();
        last = std::max(last, event.at("ts").get<double>() + event.at("dur").get<double>());
      }
      if (event.at("ph") == "C" && event.at("name") == "rules") {
        running = event.at("args").at("running");
        RC_ASSERT(running >= 0);
      }
    }
    RC_ASSERT(running == 0);
    RC_ASSERT(near(micros / 1e6, sum_of_attempts(record), microsecond));
    RC_ASSERT(last <= 1e6 * record.elapsed + 0.01);
    for (const rule_record& rule : record.rules) {
      RC_ASSERT(slices[rule.id] == rule.earlier.size() + (has_run(rule.status) ? 1 : 0));
    }
  }));
}

}  // namespace
}  // namespace weft::batch
