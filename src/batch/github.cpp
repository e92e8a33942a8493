#include <string_view>
#include "batch/excerpt.hpp"
#include "batch/format_writers.hpp"
#include "batch/outcome.hpp"

// Workflow commands of GitHub Actions: error for what failed, warning for what warned or was flaky,
// and a notice with the counts. GitHub shows ten annotations of a kind for each step.

namespace weft::batch {
namespace {

constexpr std::size_t findings_shown_max = 10;
constexpr std::size_t message_bytes_max = 4096;

std::string escaped(std::string_view text, std::string_view special) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      (out += '%') += {digits[byte >> 4U], digits[byte & 0xFU]};
    }
  }
  return out;
}

std::string message_text(std::string_view text) {
  return escaped(shown_lines(excerpt(text, message_bytes_max)), "%\r\n");
}

std::string property_text(std::string_view text) {
  return escaped(shown_line(excerpt(text, message_bytes_max)), "%\r\n:,");
}

struct annotation {
  std::string_view kind;
  std::string title;
  finding what;
};

std::string command(const annotation& made) {
  std::string text = "::" + std::string(made.kind) + " ";
  if (!made.what.file.empty()) text += "file=" + property_text(made.what.file) + ",";
  if (made.what.line != 0) text += "line=" + std::to_string(made.what.line) + ",";
  return text + "title=" + property_text(made.title) + "::" + message_text(made.what.message) +
         "\n";
}

std::string annotations_of(const rule_record& rule) {
  const std::string_view kind = is_failure(rule.status) ? "error" : "warning";
  if (rule.status == rule_status::flaky) {
    return command({kind,
                    title_of(rule),
                    {.message = "flaky: passed at attempt " + std::to_string(rule.attempts) +
                                "; before that: " + reason_of(rule)}});
  }
  if (!is_failure(rule.status) && rule.status != rule_status::warned) return "";
  if (rule.findings.empty()) {
    return command({kind, title_of(rule), {.message = reason_of(rule)}});
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(rule.findings.size(), findings_shown_max); ++i) {
    finding what = rule.findings[i];
    if (what.message.empty()) what.message = reason_of(rule);
    text += command({kind, title_of(rule), std::move(what)});
  }
  return text;
}

std::string counts(const run_report& report) {
  std::string text = std::to_string(report.total_rules) +
                     " rules: " + std::to_string(report.passed_count) + " passed";
  const auto add = [&](std::size_t number, const char* what) {
    if (number > 0) text += ", " + std::to_string(number) + " " + what;
  };
  add(report.failed_count, "failed");
  add(report.warned_count, "warned");
  add(report.flaky_count, "flaky");
  add(report.skipped_count, "skipped");
  add(report.waiting_count, "never began");
  if (report.record.ending != run_ending::complete) {
    text += "; the run " + in_words(report.record.ending);
  }
  return text;
}

}  // namespace

std::string to_github(const run_report& report) {
  std::string text;
  for (const rule_record& rule : report.record.rules) text += annotations_of(rule);
  return text + command({"notice", report.record.plan, {.message = counts(report)}});
}

}  // namespace weft::batch
