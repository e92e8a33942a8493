#include "run_summary.hpp"

#include <algorithm>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>

#include "show.hpp"

namespace weft::cli {
namespace {

std::string seconds(double value) { return formatted("%.3f s", value); }

// Batches that have rules.
std::size_t used_batches(const run_report& report) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.batches, [](const batch_report& batch) { return batch.rules > 0; }));
}

std::string name_of_batch(const batch_report& batch) {
  return batch.id.empty() ? "(no batch)" : base::printable(batch.name);
}

std::string outcome_line(const run_report& report) {
  std::string text = std::to_string(report.passed_count) + " passed";
  std::string besides;
  const auto add = [](std::string& to, std::size_t number, const char* what) {
    if (number > 0) to += (to.empty() ? "" : ", ") + std::to_string(number) + " " + what;
  };
  add(besides, report.flaky_count, "flaky");
  add(besides, report.warned_count, "with a warning");
  if (!besides.empty()) text += " (" + besides + ")";
  add(text, report.failed_count, "failed");
  add(text, report.skipped_count, "skipped");
  add(text, report.waiting_count, "not run");
  return text;
}

// Why there may be rules that have not run; empty for a run that came to its end.
std::string ending_line(run_ending how) {
  switch (how) {
    case run_ending::none:
      return "Without an end: it still runs, or was killed.\n";
    case run_ending::interrupted:
      return "Interrupted.\n";
    case run_ending::failed_fast:
      return "Ended at the first failure.\n";
    case run_ending::out_of_time:
      return "Out of time.\n";
    case run_ending::complete:
      break;
  }
  return "";
}

// What the lower bound is made of, the largest part first said.
std::string bound_reason(const run_report& report) {
  const double shared = report.work / report.record.workers;
  if (report.critical_path >= shared && report.critical_rules.size() > 1) {
    return "the critical path of " + counted(report.critical_rules.size(), "rule") + "; work " +
           seconds(report.work);
  }
  if (report.longest_rule >= shared) return "the longest rule; work " + seconds(report.work);
  return "work " + seconds(report.work) + " on " + counted(report.record.workers, "worker") +
         "; critical path " + seconds(report.critical_path);
}

std::string gap_line(const run_report& report) {
  const double above = report.total_time - report.lower_bound;
  std::string text = formatted("%.3f s above it (%.2f x)", std::max(0.0, above), report.gap);
  const gap_parts& parts = report.gap_parts;
  std::string why;
  const auto add = [&](double part, const char* what) {
    if (part >= 0.0005)
      why += (why.empty() ? ": " : ", ") + std::string(what) + " " + seconds(part);
  };
  add(parts.dependency, "waiting for other rules");
  add(parts.tail, "tail");
  add(parts.admission, "admission");
  add(parts.overhead, "overhead");
  return text + why;
}

// Where there is little room, the figures that matter least are left out.
std::string batch_table(const run_report& report, std::size_t columns) {
  const bool is_narrow = columns < 66;
  const std::size_t besides = is_narrow ? 33 : 50;
  std::size_t width = 4;
  for (const batch_report& batch : report.batches) {
    if (batch.rules > 0) width = std::max(width, width_of(name_of_batch(batch)));
  }
  width = std::min({width, std::size_t{32}, columns > besides + 4 ? columns - besides : 4});
  std::string text = "Batch  " + fitted("Name", width) + formatted("  %5s", "Rules");
  if (!is_narrow) text += formatted("  %7s", "Workers");
  text += formatted("  %9s  %6s", "Time", "Util");
  if (!is_narrow) text += formatted("  %6s", "Steals");
  text += "\n";
  for (std::size_t i = 0; i < report.batches.size(); ++i) {
    const batch_report& batch = report.batches[i];
    if (batch.rules == 0) continue;
    text += formatted("%-5zu  ", i) + fitted(name_of_batch(batch), width) +
            formatted("  %5zu", batch.rules);
    if (!is_narrow) text += formatted("  %7u", batch.workers);
    text += formatted("  %7.3f s  %5.1f%%", batch.seconds, batch.utilisation);
    if (!is_narrow) text += formatted("  %6zu", batch.steals);
    text += "\n";
  }
  return text;
}

std::string batch_lines(const run_report& report) {
  std::string text;
  for (std::size_t i = 0; i < report.batches.size(); ++i) {
    const batch_report& batch = report.batches[i];
    if (batch.rules == 0) continue;
    const std::string head = "[BATCH " + std::to_string(i) + "] ";
    text += head + name_of_batch(batch) + "\n";
    text += head + formatted("Rules: %zu, Workers: %u (base: %u)\n", batch.rules, batch.workers,
                             report.record.workers);
    text += head + "Estimated time: " + formatted("%.3fs\n", batch.predicted);
    text += head + formatted("Complete: %zu/%zu passed in %.3fs\n", batch.passed, batch.rules,
                             batch.seconds);
    text += head + formatted("Prediction error: %.1f%%\n", batch.prediction_error);
    text += head + formatted("Work stolen: %zu tasks\n", batch.steals);
    text += head + formatted("Worker utilization: %.1f%%\n", batch.utilisation);
  }
  return text;
}

// The failures once more: on a long run they have scrolled away.
std::string failures(const run_report& report) {
  constexpr std::size_t shown_max = 20;
  std::string text;
  std::size_t shown = 0;
  for (const rule_record& rule : report.record.rules) {
    if (!is_failure(rule.status) || ++shown > shown_max) continue;
    const std::string message = base::printable(rule.message.substr(0, rule.message.find('\n')));
    text += "  " + base::printable(rule.id) + (message.empty() ? "" : ": " + message) + "\n";
  }
  if (shown > shown_max) text += "  and " + std::to_string(shown - shown_max) + " more\n";
  return text.empty() ? text : "Failed:\n" + text;
}

}  // namespace

std::string summary(const run_report& report, verbosity how, std::size_t columns) {
  const run_record& record = report.record;
  std::string text;
  if (how == verbosity::verbose) text += batch_lines(report);
  std::string head = base::printable(record.plan) + ": " + counted(report.total_rules, "rule");
  if (used_batches(report) > 1) head += " in " + std::to_string(used_batches(report)) + " batches";
  text += "\n" + wrapped(head + ", " + outcome_line(report), columns, 2) + "\n";
  if (report.total_rules == 0) return text + "Nothing to do.\n";
  text += ending_line(record.ending);
  text += failures(report);
  text += "\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += wrapped(formatted("%-12s ", name) + value, columns, 13) + "\n";
  };
  line("Duration", seconds(report.total_time));
  line("Lower bound", seconds(report.lower_bound) + ": " + bound_reason(report));
  line("", gap_line(report));
  std::string how_run =
      counted(record.workers, "worker") + ", " + std::string(name_of(record.policy));
  if (record.barriers) how_run += record.fixed ? ", barriers, fixed" : ", barriers";
  // The mode of a fixed run says nothing about its costs.
  if (report.mode == "adaptive_warm") how_run += ", learned costs";
  if (report.mode == "adaptive_cold") how_run += ", costs not learned yet";
  line("Workers", how_run);
  line("Utilisation", formatted("%.1f %% (%.1f to %.1f, standard deviation %.1f points)",
                                report.avg_worker_utilization, report.min_worker_utilization,
                                report.max_worker_utilization, report.utilization_variance));
  line("Steals", std::to_string(report.total_steals) +
                     formatted(" (%.1f %% of the rules)", report.steal_percentage));
  line("Prediction", formatted("off by %.1f %%", report.avg_prediction_error));
  if (used_batches(report) > 1) text += "\n" + batch_table(report, columns);
  return text;
}

}  // namespace weft::cli
