#include <string_view>

#include <nlohmann/json.hpp>

#include <weft/version.hpp>

#include "batch/format_writers.hpp"
#include "batch/outcome.hpp"

// SARIF 2.1.0. What failed is a result of level error, what warned one of level warning, and what
// was flaky a note; a rule that points at files has a result for each finding.

namespace weft::batch {
namespace {

using json = nlohmann::ordered_json;

json text_of(std::string_view text) { return {{"text", shown_lines(text)}}; }

// Of a path, as RFC 3986 wants it.
std::string percent_encoded(std::string_view path) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      (out += '%') += {digits[byte >> 4U], digits[byte & 0xFU]};
    }
  }
  return out;
}

json location_of(const finding& found) {
  json artifact;
  if (found.file.starts_with('/')) {
    artifact = {{"uri", "file://" + percent_encoded(found.file)}};
  } else {
    // Where the plan happens; GitHub takes this name for the root of the repository.
    artifact = {{"uri", percent_encoded(found.file)}, {"uriBaseId", "%SRCROOT%"}};
  }
  json physical = {{"artifactLocation", std::move(artifact)}};
  if (found.line != 0) physical["region"] = {{"startLine", found.line}};
  return {{"physicalLocation", std::move(physical)}};
}

std::string_view level_of(rule_status status) {
  if (is_failure(status)) return "error";
  return status == rule_status::warned ? "warning" : "note";
}

json rule_json(const rule_record& rule) {
  const std::string& title = rule.name.empty() ? rule.id : rule.name;
  return {{"id", rule.id},
          {"shortDescription", text_of(title)},
          {"fullDescription", text_of(title)},
          {"help", text_of("weft explain " + rule.id + " tells what happened to it")}};
}

void add_results(json& results, const rule_record& rule, std::size_t index) {
  const bool has_result = is_failure(rule.status) || rule.status == rule_status::warned ||
                          rule.status == rule_status::flaky;
  if (!has_result) return;
  const auto add = [&](std::string_view message) -> json& {
    results.push_back({{"ruleId", rule.id},
                       {"ruleIndex", index},
                       {"level", level_of(rule.status)},
                       {"message", text_of(message)}});
    return results.back();
  };
  for (const finding& each : rule.findings) {
    add(each.message.empty() ? reason_of(rule) : each.message)["locations"] =
        json::array({location_of(each)});
  }
  if (rule.findings.empty()) add(reason_of(rule));
}

json invocation_of(const run_report& report) {
  const run_record& record = report.record;
  const bool complete = record.ending == run_ending::complete;
  json made = {{"executionSuccessful", complete},
               {"startTimeUtc", utc_time(record.started) + "Z"},
               {"endTimeUtc", utc_time(record.started + report.total_time) + "Z"}};
  if (!complete) {
    const std::string what = "the run " + in_words(record.ending) + ": " +
                             std::to_string(report.waiting_count) + " of " +
                             std::to_string(report.total_rules) + " rules never began";
    made["toolExecutionNotifications"] =
        json::array({{{"level", "error"}, {"message", text_of(what)}}});
  }
  return made;
}

}  // namespace

std::string to_sarif(const run_report& report) {
  const run_record& record = report.record;
  json rules = json::array();
  json results = json::array();
  for (std::size_t i = 0; i < record.rules.size(); ++i) {
    rules.push_back(rule_json(record.rules[i]));
    add_results(results, record.rules[i], i);
  }
  const json made = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", json::array({{{"tool",
                              {{"driver",
                                {{"name", "weft"},
                                 {"version", WEFT_VERSION},
                                 {"semanticVersion", WEFT_VERSION},
                                 {"rules", std::move(rules)}}}}},
                             {"automationDetails", {{"id", record.plan + "/" + record.id}}},
                             {"invocations", json::array({invocation_of(report)})},
                             {"results", std::move(results)}}})}};
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace weft::batch
