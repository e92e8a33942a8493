#include <string_view>
#include "base/json_string.hpp"
#include "base/text.hpp"
#include "batch/format_writers.hpp"
#include "batch/outcome.hpp"

// TAP version 14.
//
//   passed, flaky      ok; a flaky one says in its YAML block how often it was tried
//   warned             not ok # TODO: a failure that is known and does not count
//   failed, timed out  not ok, with a YAML block
//   skipped, not run   ok # SKIP
//
// A run that left rules out ends with "Bail out!", or the rules that never began would count as
// fine.

namespace weft::batch {
namespace {

// What stands in a line of its own: a '#' would begin a directive.
std::string in_line(std::string_view text) {
  std::string out;
  for (const char c : shown_line(text)) {
    if (c == '#' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// A JSON string is a YAML scalar that needs no knowledge of indentation.
std::string quoted(std::string_view text) {
  std::string out;
  base::append_json_string(out, shown_lines(text));
  return out;
}

std::string findings_block(const rule_record& rule) {
  std::string text;
  for (const finding& each : rule.findings) {
    text += "    - file: " + quoted(each.file) + "\n";
    if (each.line != 0) text += "      line: " + std::to_string(each.line) + "\n";
    text += "      message: " + quoted(each.message) + "\n";
  }
  return text.empty() ? text : "  findings:\n" + text;
}

std::string output_block(std::string_view output) {
  if (output.empty()) return "";
  if (output.ends_with('\n')) output.remove_suffix(1);
  std::string text = "  output:\n";
  for (const std::string_view line : base::split(output, '\n')) {
    text += "    - " + quoted(line) + "\n";
  }
  return text;
}

std::string diagnostics(const rule_record& rule) {
  std::string text = "  ---\n  message: " + quoted(reason_of(rule)) + "\n";
  text += "  severity: " + std::string(is_failure(rule.status) ? "fail" : "comment") + "\n";
  text += "  status: " + std::string(name_of(rule.status)) + "\n";
  text += "  duration_ms: " + decimal(rule.duration * 1e3) + "\n";
  if (rule.attempts > 1) text += "  attempts: " + std::to_string(rule.attempts) + "\n";
  if (rule.exit_code) text += "  exit_code: " + std::to_string(*rule.exit_code) + "\n";
  if (rule.signal != 0) text += "  signal: " + std::to_string(rule.signal) + "\n";
  text += findings_block(rule);
  if (rule.status != rule_status::flaky) text += output_block(rule.output);
  return text + "  ...\n";
}

std::string test_point(const rule_record& rule, std::size_t number, run_ending ending) {
  const std::string rest = "ok " + std::to_string(number) + " - " + in_line(title_of(rule));
  switch (rule.status) {
    case rule_status::passed:
      return rest + "\n";
    case rule_status::flaky:
      return rest + "\n" + diagnostics(rule);
    case rule_status::warned:
      return "not " + rest + " # TODO " +
             in_line("warning: " + std::string(base::first_line(reason_of(rule)))) + "\n" +
             diagnostics(rule);
    case rule_status::failed:
    case rule_status::timed_out:
      return "not " + rest + "\n" + diagnostics(rule);
    case rule_status::waiting:
    case rule_status::skipped:
      break;
  }
  return rest + " # SKIP " + in_line(why_not_run(rule, ending)) + "\n";
}

}  // namespace

std::string to_tap(const run_report& report) {
  const run_record& record = report.record;
  std::string text = "TAP version 14\n1.." + std::to_string(record.rules.size());
  text += record.rules.empty() ? " # SKIP there are no rules\n" : "\n";
  for (std::size_t i = 0; i < record.rules.size(); ++i) {
    text += test_point(record.rules[i], i + 1, record.ending);
  }
  if (report.waiting_count > 0) {
    text += "Bail out! The run " + in_words(record.ending) + ": " +
            std::to_string(report.waiting_count) + " of " + std::to_string(report.total_rules) +
            " rules never began\n";
  }
  return text;
}

}  // namespace weft::batch
