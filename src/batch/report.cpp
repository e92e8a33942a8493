#include <weft/batch/report.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <weft/batch/bound.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/slack.hpp>

#include "batch/idle_time.hpp"
#include "batch/report_of.hpp"

namespace weft {
namespace {

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

void count_rules(run_report& report) {
  double predicted_off = 0;
  double taken = 0;
  for (const rule_record& rule : report.record.rules) {
    ++report.total_rules;
    report.passed_count += lets_others_run(rule.status) ? 1 : 0;
    report.failed_count += is_failure(rule.status) ? 1 : 0;
    report.flaky_count += rule.status == rule_status::flaky ? 1 : 0;
    report.warned_count += rule.status == rule_status::warned ? 1 : 0;
    report.skipped_count += rule.status == rule_status::skipped ? 1 : 0;
    report.waiting_count += rule.status == rule_status::waiting ? 1 : 0;
    if (!has_run(rule.status)) continue;
    report.total_steals += rule.stolen_from ? 1 : 0;
    predicted_off += std::abs(rule.predicted - rule.duration);
    taken += rule.duration;
  }
  const std::size_t ran = report.passed_count + report.failed_count;
  report.steal_percentage =
      percent(static_cast<double>(report.total_steals), static_cast<double>(ran));
  report.avg_prediction_error = percent(predicted_off, taken);
}

// Learned costs decide only when most of them are learned.
std::string mode_of(const run_record& record) {
  if (record.fixed) return "fixed";
  const auto learned = std::ranges::count(record.rules, cost_source::profile, &rule_record::source);
  const bool warm =
      !record.rules.empty() && 2 * static_cast<std::size_t>(learned) >= record.rules.size();
  return warm ? "adaptive_warm" : "adaptive_cold";
}

void add_workers(run_report& report) {
  const run_record& record = report.record;
  report.worker_stats.resize(record.workers);
  const auto work = [&](unsigned worker, double seconds) {
    if (worker >= record.workers) return;
    report.worker_stats[worker].busy += seconds;
    ++report.worker_stats[worker].tasks;
  };
  for (const rule_record& rule : record.rules) {
    for (const attempt_record& attempt : rule.earlier) work(attempt.worker, attempt.duration);
    if (!has_run(rule.status)) continue;
    work(rule.worker, rule.duration);
    if (rule.stolen_from && rule.worker < record.workers) ++report.worker_stats[rule.worker].steals;
  }
  double sum = 0;
  for (std::size_t i = 0; i < report.worker_stats.size(); ++i) {
    worker_report& worker = report.worker_stats[i];
    worker.idle = std::max(0.0, report.total_time - worker.busy);
    worker.utilisation = std::min(100.0, percent(worker.busy, report.total_time));
    if (i < record.steal_attempts.size()) worker.steal_attempts = record.steal_attempts[i];
    sum += worker.utilisation;
  }
  const auto workers = static_cast<double>(report.worker_stats.size());
  const auto [least, most] =
      std::ranges::minmax_element(report.worker_stats, {}, &worker_report::utilisation);
  report.avg_worker_utilization = sum / workers;
  report.min_worker_utilization = least->utilisation;
  report.max_worker_utilization = most->utilisation;
  double squares = 0;
  for (const worker_report& worker : report.worker_stats) {
    squares += std::pow(worker.utilisation - report.avg_worker_utilization, 2);
  }
  report.utilization_variance = std::sqrt(squares / workers);
}

void add_bound(run_report& report, const batch::graph& shape) {
  const run_record& record = report.record;
  const batch::costs taken = batch::taken_by(record);
  std::vector<unsigned> weight;
  weight.reserve(record.rules.size());
  for (const rule_record& rule : record.rules) weight.push_back(rule.weight);
  const batch::lower_bound bound = batch::bound_of(shape, taken, weight, record.workers);
  report.lower_bound = bound.total();
  report.gap = report.lower_bound > 0 ? report.total_time / report.lower_bound : 1;
  report.critical_path = bound.critical_path;
  report.work = bound.work_per_worker * record.workers;
  report.longest_rule = bound.longest;
  report.overall_efficiency = percent(report.work, record.workers * report.total_time);
  for (const batch::node rule : bound.path) report.critical_rules.push_back(record.rules[rule].id);

  gap_parts idle = batch::idle_time(record, report.total_time);
  // Attempts that had to be repeated are no work of the bound.
  idle.overhead += std::max(0.0, report.total_time - bound.work_per_worker - idle.dependency -
                                     idle.tail - idle.admission - idle.overhead);
  report.gap_parts = batch::without_unavoidable(idle, report.lower_bound - bound.work_per_worker);
}

// How many of these intervals overlap at most.
unsigned most_at_once(std::vector<std::pair<double, int>> edges) {
  std::ranges::sort(edges);  // an end sorts before a start of the same time
  int now = 0;
  int most = 0;
  for (const auto& [when, step] : edges) most = std::max(most, now += step);
  return static_cast<unsigned>(most);
}

void add_batches(run_report& report) {
  const run_record& record = report.record;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const batch_record& batch : record.batches) {
    index.emplace(batch.id, report.batches.size());
    batch_report made;
    made.id = batch.id;
    made.name = batch.name.empty() ? batch.id : batch.name;
    report.batches.push_back(std::move(made));
  }
  struct span_of_batch {
    double first = 0, last = 0, busy = 0, off = 0, predicted = 0, longest = 0;
    std::vector<std::pair<double, int>> edges;
  };
  std::vector<span_of_batch> spans(report.batches.size());
  for (const rule_record& rule : record.rules) {
    const auto at = index.find(rule.batch);
    if (at == index.end()) continue;
    batch_report& batch = report.batches[at->second];
    span_of_batch& span = spans[at->second];
    ++batch.rules;
    batch.passed += lets_others_run(rule.status) ? 1 : 0;
    batch.failed += is_failure(rule.status) ? 1 : 0;
    if (!has_run(rule.status)) continue;
    batch.steals += rule.stolen_from ? 1 : 0;
    span.first = span.edges.empty() ? rule.start : std::min(span.first, rule.start);
    span.last = std::max(span.last, rule.end());
    span.busy += rule.duration;
    span.off += std::abs(rule.predicted - rule.duration);
    span.predicted += rule.predicted;
    span.longest = std::max(span.longest, rule.predicted);
    span.edges.emplace_back(rule.start, 1);
    span.edges.emplace_back(rule.end(), -1);
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    batch_report& batch = report.batches[i];
    span_of_batch& span = spans[i];
    batch.workers = record.batches[i].workers.value_or(most_at_once(std::move(span.edges)));
    batch.seconds = span.last - span.first;
    const double lanes = std::max(1U, batch.workers);
    batch.predicted = std::max(span.predicted / lanes, span.longest);
    batch.prediction_error = percent(span.off, span.busy);
    batch.utilisation = std::min(100.0, percent(span.busy, lanes * batch.seconds));
  }
}

}  // namespace

run_report make_report(run_record record) {
  const batch::graph shape = batch::graph_of(record);
  return batch::make_report(std::move(record), shape);
}

run_report batch::make_report(run_record record, const graph& shape) {
  run_report report;
  report.record = std::move(record);
  report.mode = mode_of(report.record);
  report.total_time = report.record.elapsed;
  count_rules(report);
  add_workers(report);
  add_bound(report, shape);
  add_batches(report);
  return report;
}

}  // namespace weft
