#include <weft/batch/history.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <weft/batch/event_log.hpp>

namespace weft::batch {
namespace {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
  return values[place];
}

std::vector<double> durations(const std::vector<past_run>& runs) {
  std::vector<double> all;
  all.reserve(runs.size());
  for (const past_run& each : runs) all.push_back(each.duration);
  return all;
}

template <class Wanted>
double share_of(const std::vector<past_run>& runs, Wanted wanted) {
  if (runs.empty()) return 0;
  return static_cast<double>(std::ranges::count_if(runs, wanted, &past_run::status)) /
         static_cast<double>(runs.size());
}

}  // namespace

double rule_history::p50() const { return quantile(durations(runs), 0.5); }
double rule_history::p90() const { return quantile(durations(runs), 0.9); }

double rule_history::trend() const {
  if (runs.size() < 4) return 1;
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  const double before = quantile(durations({runs.begin(), middle}), 0.5);
  const double after = quantile(durations({middle, runs.end()}), 0.5);
  return before > 0 ? after / before : 1;
}

double rule_history::flake_rate() const {
  return share_of(runs, [](rule_status status) { return status == rule_status::flaky; });
}
double rule_history::failure_rate() const { return share_of(runs, is_failure); }

void history::add(const run_record& record) {
  ++runs;
  for (const rule_record& rule : record.rules) {
    if (!has_run(rule.status)) continue;
    rules[rule.id].runs.push_back({.run = record.id,
                                   .began = record.started,
                                   .duration = rule.duration,
                                   .status = rule.status});
  }
}

const rule_history* history::find(std::string_view rule) const {
  const auto found = rules.find(rule);
  return found == rules.end() ? nullptr : &found->second;
}

history read_history(const std::string& directory, const run_record& until, std::size_t most) {
  std::vector<run_record> newest_first;
  for (const std::string& path : list_runs(directory)) {
    if (newest_first.size() + 1 >= most) break;
    auto logged = read_run(path);
    if (!logged || logged->record.plan_file != until.plan_file) continue;
    if (logged->record.started >= until.started || logged->record.id == until.id) continue;
    newest_first.push_back(std::move(logged->record));
  }
  history made;
  std::ranges::for_each(newest_first.rbegin(), newest_first.rend(),
                        [&](const run_record& record) { made.add(record); });
  made.add(until);
  return made;
}

}  // namespace weft::batch
