#include "batch/report_json.hpp"

#include <cmath>

namespace weft {
namespace {

using batch::hundredth;
using batch::micro;
using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json rule_json(const rule_record& rule) {
  const bool ran = has_run(rule.status);
  json made = {{"id", rule.id},
               {"name", rule.name},
               {"batch", rule.batch},
               {"status", name_of(rule.status)},
               {"start", ran ? json(micro(rule.start)) : json(nullptr)},
               {"duration", ran ? json(micro(rule.duration)) : json(nullptr)},
               {"predicted", micro(rule.predicted)},
               {"predicted_from", name_of(rule.source)},
               {"worker", ran ? json(rule.worker) : json(nullptr)},
               {"attempts", rule.attempts},
               {"exit_code", or_null(rule.exit_code)},
               {"peak_rss", rule.peak_rss}};
  if (rule.stolen_from) made["stolen_from"] = *rule.stolen_from;
  if (rule.signal != 0) made["signal"] = rule.signal;
  if (!rule.message.empty()) made["message"] = rule.message;
  for (const finding& each : rule.findings) {
    made["findings"].push_back({{"file", each.file},
                                {"line", each.line == 0 ? json(nullptr) : json(each.line)},
                                {"message", each.message}});
  }
  if (!rule.skipped_for.empty()) made["skipped_for"] = rule.skipped_for;
  if (is_failure(rule.status) && !rule.output.empty()) made["output"] = rule.output;
  return made;
}

json worker_json(const worker_report& worker) {
  return {{"busy", micro(worker.busy)},
          {"idle", micro(worker.idle)},
          {"tasks", worker.tasks},
          {"steals", worker.steals},
          {"steal_attempts", worker.steal_attempts}};
}

}  // namespace

double batch::micro(double seconds) { return std::round(seconds * 1e6) / 1e6; }
double batch::hundredth(double percent) { return std::round(percent * 100) / 100; }

json batch::figures_of(const run_report& report) {
  const run_record& record = report.record;
  json made = {{"name", record.plan},
               {"mode", report.mode},
               {"workers", record.workers},
               {"policy", name_of(record.policy)},
               {"barriers", record.barriers},
               {"run", record.id},
               {"ending", name_of(record.ending)},
               {"total_time", micro(report.total_time)},
               {"total_rules", report.total_rules},
               {"passed_count", report.passed_count},
               {"failed_count", report.failed_count},
               {"flaky_count", report.flaky_count},
               {"warned_count", report.warned_count},
               {"skipped_count", report.skipped_count},
               {"not_run_count", report.waiting_count},
               {"avg_worker_utilization", hundredth(report.avg_worker_utilization)},
               {"min_worker_utilization", hundredth(report.min_worker_utilization)},
               {"max_worker_utilization", hundredth(report.max_worker_utilization)},
               {"utilization_variance", hundredth(report.utilization_variance)},
               {"overall_efficiency", hundredth(report.overall_efficiency)},
               {"total_steals", report.total_steals},
               {"steal_percentage", hundredth(report.steal_percentage)},
               {"avg_prediction_error", hundredth(report.avg_prediction_error)}};
  json batch_workers = json::array();
  json batch_times = json::array();
  for (const batch_report& batch : report.batches) {
    batch_workers.push_back(batch.workers);
    batch_times.push_back(micro(batch.seconds));
  }
  made["batch_workers"] = std::move(batch_workers);
  made["batch_times"] = std::move(batch_times);
  made["lower_bound"] = micro(report.lower_bound);
  made["gap"] = std::round(report.gap * 1e4) / 1e4;
  made["critical_path"] = {{"seconds", micro(report.critical_path)},
                           {"rules", report.critical_rules}};
  made["gap_parts"] = {{"dependency", micro(report.gap_parts.dependency)},
                       {"tail", micro(report.gap_parts.tail)},
                       {"admission", micro(report.gap_parts.admission)},
                       {"overhead", micro(report.gap_parts.overhead)}};
  return made;
}

std::string to_json(const run_report& report) {
  json made = batch::figures_of(report);
  made["worker_stats"] = json::array();
  for (const worker_report& worker : report.worker_stats) {
    made["worker_stats"].push_back(worker_json(worker));
  }
  made["rules"] = json::array();
  for (const rule_record& rule : report.record.rules) made["rules"].push_back(rule_json(rule));
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace weft
