#include "batch/html_report_data.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/base/utf8.hpp>
#include <weft/batch/slack.hpp>
#include <weft/batch/timeline.hpp>

#include "batch/html_report_notes.hpp"
#include "batch/html_report_packed.hpp"
#include "batch/report_json.hpp"
#include "batch/waited_for.hpp"

namespace weft::batch {
namespace {

using json = nlohmann::ordered_json;

// More than can be told apart in a chart, few enough for a small file.
constexpr std::size_t idle_spans_max = 4000;
constexpr std::size_t load_levels_max = 2000;
constexpr std::size_t names_bytes_max = std::size_t{160} << 10U;
// Past runs of a rule in its sparkline.
constexpr std::size_t sparkline_runs = 12;

// Places of rules in the plan by their ids.
using rule_index = std::unordered_map<std::string_view, node>;

rule_index index_of(const run_record& record) {
  rule_index index;
  for (const rule_record& rule : record.rules) {
    index.emplace(rule.id, static_cast<node>(index.size()));
  }
  return index;
}

// Names by place, for the rules that have one; null when they are too many for a small file.
json names_json(const run_record& record) {
  json::object_t names;
  std::size_t bytes = 0;
  for (std::size_t r = 0; r < record.rules.size(); ++r) {
    const rule_record& rule = record.rules[r];
    if (rule.name.empty() || rule.name == rule.id) continue;
    const std::string name = base::printable(rule.name);
    bytes += name.size();
    if (bytes > names_bytes_max) return nullptr;
    names.emplace_back(std::to_string(r), name);  // [] would look at all others first
  }
  return names;
}

json rules_json(const run_record& record, const graph& shape, const rule_index& index) {
  json ids = json::array();
  packed_numbers batch, status, start, duration, predicted, source, wait, worker, attempts, stolen,
      weight, slack, waited, skipped, memory;
  const std::vector<double> slacks = slack_of(shape, taken_by(record));
  const std::vector<std::optional<node>> before = waited_for(shape, record);
  for (node r = 0; r < record.rules.size(); ++r) {
    const rule_record& rule = record.rules[r];
    ids.push_back(base::printable(rule.id));
    batch.add(shape.batch_of(r));
    status.add(static_cast<std::uint64_t>(rule.status));
    start.add_seconds(rule.start);
    duration.add_seconds(rule.duration);
    predicted.add_seconds(rule.predicted);
    source.add(static_cast<std::uint64_t>(rule.source));
    wait.add_seconds(rule.start - rule.ready);
    worker.add(rule.worker);
    attempts.add(rule.attempts);
    const bool is_stolen = rule.stolen_from && has_run(rule.status);
    stolen.add(is_stolen ? *rule.stolen_from + std::uint64_t{1} : 0);
    weight.add(rule.weight);
    slack.add_seconds(slacks[r]);
    waited.add(before[r] ? *before[r] + std::uint64_t{1} : 0);
    const auto cause = index.find(rule.skipped_for);
    skipped.add(cause == index.end() ? 0 : cause->second + std::uint64_t{1});
    memory.add(rule.peak_rss >> 10U);
  }
  return {{"id", std::move(ids)},
          {"name", names_json(record)},
          {"batch", batch.squeezed()},
          {"status", status.squeezed()},
          {"start", start.squeezed()},
          {"duration", duration.squeezed()},
          {"predicted", predicted.squeezed()},
          {"source", source.squeezed()},
          {"wait", wait.squeezed()},
          {"worker", worker.squeezed()},
          {"attempts", attempts.squeezed()},
          {"stolenFrom", stolen.squeezed()},
          {"weight", weight.squeezed()},
          {"slack", slack.squeezed()},
          {"waitedFor", waited.squeezed()},
          {"skippedFor", skipped.squeezed()},
          {"memory", memory.squeezed()}};
}

json attempts_json(const run_record& record) {
  packed_numbers of, worker, start, duration;
  for (node r = 0; r < record.rules.size(); ++r) {
    for (const attempt_record& attempt : record.rules[r].earlier) {
      of.add(r);
      worker.add(attempt.worker);
      start.add_seconds(attempt.start);
      duration.add_seconds(attempt.duration);
    }
  }
  return {{"rule", of.text()},
          {"worker", worker.text()},
          {"start", start.text()},
          {"duration", duration.text()}};
}

// Idle time of each worker by reason, and when it was. Of very many spans only the longest are
// drawn; the sums are of all.
json idle_json(const run_record& record) {
  std::vector<idle_span> spans = idle_spans(record);
  std::vector<double> sums(std::size_t{4} * record.workers);
  for (const idle_span& span : spans) {
    const std::size_t at = std::size_t{4} * span.worker + static_cast<std::size_t>(span.why);
    if (at < sums.size()) sums[at] += span.end - span.begin;
  }
  if (spans.size() > idle_spans_max) {
    const auto longer = [](const idle_span& a, const idle_span& b) {
      return std::pair(b.end - b.begin, a.begin) < std::pair(a.end - a.begin, b.begin);
    };
    std::ranges::stable_sort(spans, longer);
    spans.resize(idle_spans_max);
  }
  packed_numbers worker, start, duration, why, sum;
  for (const idle_span& span : spans) {
    worker.add(span.worker);
    start.add_seconds(span.begin);
    duration.add_seconds(span.end - span.begin);
    why.add(static_cast<std::uint64_t>(span.why));
  }
  for (const double seconds : sums) sum.add_seconds(seconds);
  return {{"worker", worker.text()},
          {"start", start.text()},
          {"duration", duration.text()},
          {"why", why.text()},
          {"sums", sum.text()}};
}

// Of very many levels, the highest of every stretch of time.
std::vector<load_level> thinned(std::vector<load_level> levels, double elapsed) {
  if (levels.size() <= load_levels_max || elapsed <= 0) return levels;
  const double stretch = elapsed / static_cast<double>(load_levels_max);
  std::vector<load_level> kept;
  for (const load_level& level : levels) {
    const double at = std::floor(level.at / stretch) * stretch;
    if (kept.empty() || at > kept.back().at) {
      kept.push_back(level);
      kept.back().at = at;
      continue;
    }
    kept.back().ready = std::max(kept.back().ready, level.ready);
    kept.back().running = std::max(kept.back().running, level.running);
  }
  // The run ends as it ends, and not as the highest level before.
  kept.push_back(levels.back());
  return kept;
}

json levels_json(const run_record& record) {
  packed_numbers at, ready, running;
  for (const load_level& level : thinned(load_levels(record), record.elapsed)) {
    at.add_seconds(level.at);
    ready.add(level.ready);
    // A rule may begin a rounding error before the end of the one that it follows.
    running.add(std::min<std::size_t>(level.running, record.workers));
  }
  return {{"at", at.text()}, {"ready", ready.text()}, {"running", running.text()}};
}

// One character for a run: how long it took, by the longest of those shown; a space for no run.
void append_sparkline(std::string& to, const std::vector<past_run>& runs) {
  const std::size_t shown = std::min(runs.size(), sparkline_runs);
  const auto first = runs.end() - static_cast<std::ptrdiff_t>(shown);
  double longest = 0;
  for (auto run = first; run != runs.end(); ++run) longest = std::max(longest, run->duration);
  for (auto run = first; run != runs.end(); ++run) {
    const double share = longest > 0 ? std::clamp(run->duration / longest, 0.0, 1.0) : 0;
    to += packed_numbers::alphabet[static_cast<std::size_t>(std::lround(share * 63))];
  }
  to.append(sparkline_runs - shown, ' ');
}

json history_json(const run_record& record, const history& past) {
  packed_numbers runs, p50, p90, trend, flaky;
  std::string sparklines;
  static const rule_history never;
  for (const rule_record& rule : record.rules) {
    const rule_history* const found = past.find(rule.id);
    const rule_history& of = found != nullptr ? *found : never;
    runs.add(of.runs.size());
    p50.add_seconds(of.p50());
    p90.add_seconds(of.p90());
    trend.add_ratio(of.trend());
    flaky.add_ratio(of.flake_rate());
    append_sparkline(sparklines, of.runs);
  }
  return {{"all", past.runs},
          {"runs", runs.squeezed()},
          {"p50", p50.squeezed()},
          {"p90", p90.squeezed()},
          {"trend", trend.squeezed()},
          {"flaky", flaky.squeezed()},
          {"sparklines", std::move(sparklines)},
          {"sparklineRuns", sparkline_runs}};
}

// A line of the chart of policies.
json line_of(const variant& how, const run_record& record) {
  const bool actual = how.policy == record.policy && how.barriers == record.barriers &&
                      (!how.barriers || how.fixed == record.fixed);
  return {{"name", base::printable(how.name)}, {"actual", actual}};
}

json variants_json(const run_record& record, const html_options& options) {
  json made = json::array();
  for (const variant& how : all_variants(record)) {
    json line = line_of(how, record);
    line["simulated"] = micro(replay(record, how));
    made.push_back(std::move(line));
  }
  if (!options.benchmark) return made;
  for (const measured_variant& measured : options.benchmark->variants) {
    const std::string name = base::printable(measured.how.name);
    auto line = std::ranges::find_if(made, [&](const json& each) { return each["name"] == name; });
    if (line == made.end()) {
      made.push_back({{"name", name}, {"actual", false}});
      line = made.end() - 1;
      if (measured.simulated > 0) (*line)["simulated"] = micro(measured.simulated);
    }
    (*line)["runs"] = measured.times.size();
    (*line)["mean"] = micro(measured.time.mean);
    // Nothing is known about the mean of a single run; a time below zero is none.
    if (!std::isfinite(measured.time.low) || !std::isfinite(measured.time.high)) continue;
    (*line)["low"] = micro(std::max(0.0, measured.time.low));
    (*line)["high"] = micro(measured.time.high);
  }
  return made;
}

json summary_json(const run_report& report) {
  const run_record& record = report.record;
  json warnings = json::array();
  for (const std::string& warning : report.warnings) warnings.push_back(base::printable(warning));
  return {{"plan", base::printable(record.plan)},
          {"run", base::printable(record.id)},
          {"started", std::round(record.started)},
          {"workers", record.workers},
          {"policy", name_of(record.policy)},
          {"barriers", record.barriers},
          {"fixed", record.fixed},
          {"partial", record.partial},
          {"mode", report.mode},
          {"ending", name_of(record.ending)},
          {"resumed", record.resumed},
          {"time", micro(report.total_time)},
          {"bound", micro(report.lower_bound)},
          {"gap", std::round(report.gap * 1e4) / 1e4},
          {"work", micro(report.work)},
          {"criticalPath", micro(report.critical_path)},
          {"longestRule", micro(report.longest_rule)},
          {"gapParts",
           {micro(report.gap_parts.dependency), micro(report.gap_parts.tail),
            micro(report.gap_parts.admission), micro(report.gap_parts.overhead)}},
          {"utilisation", hundredth(report.avg_worker_utilization)},
          {"predictionError", hundredth(report.avg_prediction_error)},
          {"counts",
           {{"rules", report.total_rules},
            {"passed", report.passed_count},
            {"failed", report.failed_count},
            {"flaky", report.flaky_count},
            {"warned", report.warned_count},
            {"skipped", report.skipped_count},
            {"waiting", report.waiting_count}}},
          {"warnings", std::move(warnings)}};
}

json batches_json(const run_record& record, const graph& shape) {
  std::unordered_map<std::string_view, std::string_view> names;
  for (const batch_record& batch : record.batches) names.emplace(batch.id, batch.name);
  json made = json::array();
  for (std::size_t b = 0; b < shape.batch_count(); ++b) {
    const std::string& id = shape.batch_name(b);
    const auto named = names.find(id);
    const bool has_name = named != names.end() && !named->second.empty();
    made.push_back(base::printable(has_name ? named->second : std::string_view(id)));
  }
  return made;
}

// Inside a script element the text ends at "</script" and changes its meaning at "<!--", whatever
// JSON thinks; without '<' there is neither. U+2028 and U+2029 end a line in old scripts. All of
// them occur only inside strings, where an escape means the same.
std::string safe_in_script(std::string_view text) {
  constexpr std::string_view escaped[][2] = {
      {"<", "\\u003c"}, {">", "\\u003e"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}};
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    const auto* const found =
        std::ranges::find_if(escaped, [&](const auto& each) { return text.starts_with(each[0]); });
    const bool plain = found == std::end(escaped);
    made += plain ? text.substr(0, 1) : (*found)[1];
    text.remove_prefix(plain ? 1 : (*found)[0].size());
  }
  return made;
}

}  // namespace

std::string html_data(const run_report& report, const html_options& options) {
  const run_record& record = report.record;
  const graph shape = graph_of(record);
  const rule_index index = index_of(record);
  json made = summary_json(report);
  made["batches"] = batches_json(record, shape);
  made["rules"] = rules_json(record, shape, index);
  packed_numbers critical;
  for (const std::string& id : report.critical_rules) {
    if (const auto at = index.find(id); at != index.end()) critical.add(at->second);
  }
  made["critical"] = critical.text();
  made["attempts"] = attempts_json(record);
  made["idle"] = idle_json(record);
  made["levels"] = levels_json(record);
  made["variants"] = variants_json(record, options);
  if (options.past.runs > 1) made["history"] = history_json(record, options.past);
  rule_notes notes = notes_of(record);
  made["notes"] = std::move(notes.by_place);
  made["notesLeftOut"] = notes.left_out;
  return safe_in_script(made.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace weft::batch
