#include <weft/batch/trace.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include <weft/batch/slack.hpp>
#include <weft/batch/timeline.hpp>
#include <weft/telemetry/trace_writer.hpp>

#include "batch/excerpt.hpp"
#include "batch/seconds.hpp"
#include "batch/waited_for.hpp"

namespace weft::batch {
namespace {

using telemetry::trace_argument;
using telemetry::trace_track;

constexpr double nanosecond = 1e-9;
constexpr std::size_t message_max = 500;

struct slice {
  node rule = 0;
  unsigned attempt = 1;
  unsigned worker = 0;
  double begin = 0;
  double end = 0;

  // An arrow finds the slice at its end by the time, so one without duration cannot have any.
  [[nodiscard]] bool covers(double time) const { return begin <= time && time < end; }
};

trace_track track_of(unsigned worker) { return {.thread = worker + 1}; }

// The attempts of a run, worker by worker.
class tracks {
 public:
  explicit tracks(const run_record& record) : first_(record.rules.size()), last_(first_) {
    for (unsigned worker = 0; worker < record.workers; ++worker) of_[worker];
    for (node r = 0; r < record.rules.size(); ++r) {
      const rule_record& rule = record.rules[r];
      unsigned attempt = 0;
      for (const attempt_record& each : rule.earlier) {
        add({r, ++attempt, each.worker, each.start, each.start + each.duration});
      }
      if (has_run(rule.status)) add({r, ++attempt, rule.worker, rule.start, rule.end()});
    }
    for (auto& [worker, slices] : of_) settle(slices);
  }

  [[nodiscard]] const std::map<unsigned, std::vector<slice>>& all() const { return of_; }
  [[nodiscard]] const std::optional<slice>& first_of(node rule) const { return first_[rule]; }
  [[nodiscard]] const std::optional<slice>& last_of(node rule) const { return last_[rule]; }

  // What a worker ran at a moment.
  [[nodiscard]] const slice* at(unsigned worker, double time) const {
    const auto found = of_.find(worker);
    if (found == of_.end()) return nullptr;
    const auto after = std::ranges::upper_bound(found->second, time, {}, &slice::begin);
    if (after == found->second.begin()) return nullptr;
    const slice& candidate = *std::prev(after);
    return candidate.covers(time) ? &candidate : nullptr;
  }

 private:
  void add(slice made) { of_[made.worker].push_back(made); }

  // A worker runs one at a time, but a sum of rounded times may say otherwise by a nanosecond, and
  // slices that overlap are drawn wrongly.
  void settle(std::vector<slice>& slices) {
    std::ranges::sort(slices, [](const slice& a, const slice& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    double free_since = 0;
    for (slice& each : slices) {
      each.begin = std::max(to_the_nanosecond(each.begin), free_since);
      each.end = std::max(to_the_nanosecond(each.end), each.begin);
      free_since = each.end;
      std::optional<slice>& first = first_[each.rule];
      std::optional<slice>& last = last_[each.rule];
      if (!first || each.attempt < first->attempt) first = each;
      if (!last || each.attempt > last->attempt) last = each;
    }
  }

  std::map<unsigned, std::vector<slice>> of_;
  std::vector<std::optional<slice>> first_;
  std::vector<std::optional<slice>> last_;
};

class painter {
 public:
  painter(const run_report& report, std::string& to)
      : record_(report.record),
        shape_(graph_of(record_)),
        slack_(slack_of(shape_, taken_by(record_))),
        critical_(report.critical_rules.begin(), report.critical_rules.end()),
        drawn_(record_),
        out_(to) {}

  void paint() {
    out_.name_process(1, record_.plan);
    for (const auto& [worker, slices] : drawn_.all()) {
      out_.name_track(track_of(worker), "worker " + std::to_string(worker), worker);
    }
    for (const auto& [worker, slices] : drawn_.all()) {
      for (const slice& each : slices) paint_slice(each);
    }
    paint_dependencies();
    paint_steals();
    paint_load();
  }

 private:
  void paint_slice(const slice& each) {
    const rule_record& rule = record_.rules[each.rule];
    const bool repeated = each.attempt <= rule.earlier.size();
    const std::string message = excerpt(rule.message, message_max);
    std::vector<trace_argument> arguments = {
        {"status", repeated ? "repeated" : name_of(rule.status)},
        {"attempt", std::int64_t{each.attempt}},
        {"predicted", rule.predicted},
        {"predicted_from", name_of(rule.source)},
        {"slack", slack_[each.rule]},
        {"critical", critical_.contains(rule.id)},
    };
    if (!rule.name.empty()) arguments.push_back({"name", rule.name});
    if (rule.weight != 1) arguments.push_back({"weight", std::int64_t{rule.weight}});
    if (!repeated && rule.exit_code) {
      arguments.push_back({"exit_code", std::int64_t{*rule.exit_code}});
    }
    if (!repeated && rule.signal != 0) arguments.push_back({"signal", std::int64_t{rule.signal}});
    if (!message.empty()) arguments.push_back({"message", message});
    out_.slice(track_of(each.worker), rule.id, rule.batch.empty() ? "rule" : rule.batch, each.begin,
               each.end - each.begin, arguments);
  }

  void paint_dependencies() {
    const std::vector<std::optional<node>> waited = waited_for(shape_, record_);
    for (node r = 0; r < shape_.rule_count(); ++r) {
      const std::optional<slice>& to = drawn_.first_of(r);
      if (!waited[r] || !to) continue;
      const slice& from = *drawn_.last_of(*waited[r]);
      const double leaves = to_the_nanosecond(from.end - nanosecond);
      if (!from.covers(leaves) || !to->covers(to->begin) || to->begin < leaves) continue;
      out_.arrow("after", "dependency", track_of(from.worker), leaves, track_of(to->worker),
                 to->begin);
    }
  }

  void paint_steals() {
    for (node r = 0; r < record_.rules.size(); ++r) {
      const std::optional<unsigned> victim = record_.rules[r].stolen_from;
      const std::optional<slice>& to = drawn_.last_of(r);
      if (!victim || !to || !to->covers(to->begin)) continue;
      // Between two rules there is no slice on the victim's track to draw from.
      if (drawn_.at(*victim, to->begin) == nullptr) continue;
      out_.arrow("stolen", "steal", track_of(*victim), to->begin, track_of(to->worker), to->begin);
    }
  }

  void paint_load() {
    for (const load_level& level : load_levels(record_)) {
      const trace_argument rules[] = {{"ready", static_cast<std::int64_t>(level.ready)},
                                      {"running", static_cast<std::int64_t>(level.running)}};
      constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
      const trace_argument memory[] = {
          {"bytes", static_cast<std::int64_t>(std::min(level.memory, most))}};
      out_.counter(1, "rules", level.at, rules);
      out_.counter(1, "memory", level.at, memory);
    }
  }

  const run_record& record_;
  graph shape_;
  std::vector<double> slack_;
  std::unordered_set<std::string> critical_;
  tracks drawn_;
  telemetry::trace_writer out_;
};

}  // namespace

std::string to_trace(const run_report& report) {
  std::string text;
  painter(report, text).paint();
  return text;
}

}  // namespace weft::batch
