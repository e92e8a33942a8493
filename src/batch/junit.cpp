#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "batch/format_writers.hpp"
#include "batch/outcome.hpp"

// JUnit XML as Ant began it and Maven's Surefire goes on with it, which is where the elements for
// repeated attempts come from.
//
//   passed             a test case
//   flaky              a test case that passed, with a flakyFailure for each attempt before
//   warned             a test case that passed, with the warning in system-out: the format has none
//   failed             failure, and rerunFailure for each further attempt
//   timed out, killed  error, since it came to no verdict
//   skipped, not run   skipped

namespace weft::batch {
namespace {

// Control characters cannot be written in XML, not even as a reference, so they are shown as \x1b.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : shown_lines(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A parser takes a line end in an attribute for a blank, if it is not written as a reference.
std::string attribute_text(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    if (c == '\n') {
      out += "&#10;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + attribute_text(value) + "\"";
}

std::string attribute(std::string_view name, std::size_t number) {
  return attribute(name, std::to_string(number));
}

std::string element(std::string_view name, std::string_view attributes, std::string_view text) {
  const std::string tag(name);
  if (text.empty()) return "<" + tag + std::string(attributes) + "/>\n";
  return "<" + tag + std::string(attributes) + ">" + escaped(text) + "</" + tag + ">\n";
}

bool came_to_no_verdict(const rule_record& rule) {
  return rule.status == rule_status::timed_out || rule.signal != 0;
}

struct suite {
  std::string name;
  std::vector<const rule_record*> rules = {};
  std::optional<double> first = std::nullopt;  // start, in seconds
  double last = 0;                             // end
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;

  void add(const rule_record& rule) {
    rules.push_back(&rule);
    if (!has_run(rule.status)) {
      ++skipped;
      return;
    }
    first = std::min(first.value_or(rule.start), rule.start);
    last = std::max(last, rule.end());
    if (is_failure(rule.status)) ++(came_to_no_verdict(rule) ? errors : failures);
  }
};

// One for each batch that has rules.
std::vector<suite> suites_of(const run_record& record) {
  std::vector<suite> suites;
  std::unordered_map<std::string_view, std::size_t> place;
  for (const batch_record& batch : record.batches) {
    place.emplace(batch.id, suites.size());
    std::string name = batch.name.empty() ? batch.id : batch.name;
    if (name.empty()) name = record.plan;
    suites.push_back({.name = std::move(name)});
  }
  for (const rule_record& rule : record.rules) {
    const auto [at, is_new] = place.emplace(rule.batch, suites.size());
    if (is_new) suites.push_back({.name = rule.batch.empty() ? record.plan : rule.batch});
    suites[at->second].add(rule);
  }
  std::erase_if(suites, [](const suite& each) { return each.rules.empty(); });
  return suites;
}

// The attempts before the one that counts. Why they failed is known only of the last one before a
// rule passed.
std::string repeated_attempts(const rule_record& rule, std::string_view name) {
  std::string text;
  for (std::size_t i = 1; i <= rule.earlier.size(); ++i) {
    std::string message = "attempt " + std::to_string(i) + " failed";
    if (rule.status == rule_status::flaky && i == rule.earlier.size()) {
      message += ": " + reason_of(rule);
    }
    text +=
        "      " + element(name, attribute("message", message) + attribute("type", "repeated"), "");
  }
  return text;
}

std::string verdict(const rule_record& rule, run_ending ending) {
  if (!has_run(rule.status)) {
    return "      " + element("skipped", attribute("message", why_not_run(rule, ending)), "");
  }
  if (rule.status == rule_status::flaky) return repeated_attempts(rule, "flakyFailure");
  if (rule.status == rule_status::warned) {
    return "      " + element("system-out", "", "warning: " + reason_of(rule) + "\n" + rule.output);
  }
  if (!is_failure(rule.status)) return "";
  const std::string reason = reason_of(rule);
  std::string text = "      " + element(came_to_no_verdict(rule) ? "error" : "failure",
                                        attribute("message", reason.substr(0, reason.find('\n'))) +
                                            attribute("type", name_of(rule.status)),
                                        reason);
  text += repeated_attempts(rule, "rerunFailure");
  if (!rule.output.empty()) text += "      " + element("system-out", "", rule.output);
  return text;
}

std::string test_case(const rule_record& rule, const run_record& record) {
  const std::string class_name = rule.batch.empty() ? record.plan : record.plan + "." + rule.batch;
  const std::string head = "    <testcase" + attribute("name", title_of(rule)) +
                           attribute("classname", class_name) +
                           attribute("time", decimal(has_run(rule.status) ? rule.duration : 0));
  const std::string inside = verdict(rule, record.ending);
  return inside.empty() ? head + "/>\n" : head + ">\n" + inside + "    </testcase>\n";
}

}  // namespace

std::string to_junit(const run_report& report) {
  const run_record& record = report.record;
  suite all;
  for (const rule_record& rule : record.rules) all.add(rule);
  const auto counts = [](const suite& of) {
    return attribute("tests", of.rules.size()) + attribute("failures", of.failures) +
           attribute("errors", of.errors) + attribute("skipped", of.skipped);
  };
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
                     attribute("name", record.plan) + counts(all) +
                     attribute("time", decimal(report.total_time)) + ">\n";
  for (const suite& each : suites_of(record)) {
    // The schema has times without a zone; they are in UTC.
    const double first = each.first.value_or(0);
    const std::string began = utc_time(record.started + first);
    text += "  <testsuite" + attribute("name", each.name) + counts(each) +
            attribute("time", decimal(each.last - first)) +
            attribute("timestamp", began.substr(0, began.find('.'))) + ">\n";
    for (const rule_record* rule : each.rules) text += test_case(*rule, record);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace weft::batch
