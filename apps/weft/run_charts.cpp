#include "run_charts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <weft/base/utf8.hpp>

#include "ink.hpp"
#include "show.hpp"

namespace weft::cli {
namespace {

std::string words(const std::string& text, const terminal& look) {
  return wrapped(text, look.columns, 2) + "\n";
}

std::string seconds(double value) { return formatted("%.3f s", value); }

// A part of a row, from one place to another of 0 to 1.
std::string bar(double from, double to, std::size_t width, ink colour, const terminal& look) {
  const auto place = [&](double share) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
  };
  const std::size_t begin = place(from);
  const std::size_t end = place(to);
  std::string drawn;
  for (std::size_t i = begin; i < end; ++i) drawn += look.unicode ? "█" : "#";
  return std::string(begin, ' ') + painted(drawn, colour, look);
}

// Rows of a name, a value and a bar; names are cut where there is no room for them.
struct row {
  std::string name;
  std::string value;
  double from = 0;  // of the longest bar, 0 to 1
  double to = 0;
  ink colour = ink::green;
};

std::string bars(const std::vector<row>& rows, const terminal& look) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const row& each : rows) {
    name_width = std::max(name_width, width_of(each.name));
    value_width = std::max(value_width, width_of(each.value));
  }
  constexpr std::size_t bar_min = 8;
  const std::size_t besides = value_width + 6;
  const std::size_t columns = look.columns;
  if (name_width + besides + bar_min > columns) {
    name_width = columns > besides + bar_min + 4 ? columns - besides - bar_min : 4;
  }
  const std::size_t width =
      columns > name_width + besides ? columns - name_width - besides : bar_min;
  std::string text;
  for (const row& each : rows) {
    text +=
        without_trailing_blanks("  " + fitted(each.name, name_width) + "  " +
                                std::string(value_width - width_of(each.value), ' ') + each.value +
                                "  " + bar(each.from, each.to, width, each.colour, look)) +
        "\n";
  }
  return text;
}

ink colour_of(double percent) {
  if (percent >= 90) return ink::green;
  return percent >= 60 ? ink::yellow : ink::red;
}

}  // namespace

std::string utilization_chart(const run_report& report, const terminal& look) {
  std::vector<row> rows;
  rows.reserve(report.worker_stats.size());
  for (std::size_t i = 0; i < report.worker_stats.size(); ++i) {
    const worker_report& worker = report.worker_stats[i];
    rows.push_back({.name = std::to_string(i),
                    .value = formatted("%.1f %%", worker.utilisation),
                    .to = worker.utilisation / 100,
                    .colour = colour_of(worker.utilisation)});
  }
  return words("Utilisation: how much of the run each worker was busy", look) + bars(rows, look) +
         words(formatted("  %.1f %% on average, %.1f to %.1f, standard deviation %.1f points",
                         report.avg_worker_utilization, report.min_worker_utilization,
                         report.max_worker_utilization, report.utilization_variance),
               look);
}

std::string stealing_chart(const run_report& report, const terminal& look) {
  std::string text = "Steals: " + std::to_string(report.total_steals) +
                     formatted(" (%.1f %% of the rules)\n", report.steal_percentage);
  if (report.total_steals == 0) {
    const bool stealing = report.record.policy == run_policy::stealing;
    return text + words(stealing ? "  Every worker ran the rules that it was dealt."
                                 : "  " + std::string(name_of(report.record.policy)) +
                                       " has one queue for all workers, so that there is nothing "
                                       "to steal; --policy stealing deals rules to workers.",
                        look);
  }
  struct stolen {
    std::size_t rules = 0;
    double seconds = 0;
  };
  std::map<std::pair<unsigned, unsigned>, stolen> pairs;
  double most = 0;
  for (const rule_record& rule : report.record.rules) {
    if (!rule.stolen_from || !has_run(rule.status)) continue;
    stolen& pair = pairs[{rule.worker, *rule.stolen_from}];
    ++pair.rules;
    most = std::max(most, pair.seconds += rule.duration);
  }
  std::vector<std::pair<std::pair<unsigned, unsigned>, stolen>> largest(pairs.begin(), pairs.end());
  std::ranges::stable_sort(largest, std::ranges::greater(),
                           [](const auto& pair) { return pair.second.seconds; });
  constexpr std::size_t shown_max = 16;
  std::vector<row> rows;
  for (const auto& [who, what] : largest) {
    if (rows.size() == shown_max) break;
    rows.push_back({.name = std::to_string(who.first) + " from " + std::to_string(who.second),
                    .value = counted(what.rules, "rule") + ", " + seconds(what.seconds),
                    .to = most > 0 ? what.seconds / most : 0,
                    .colour = ink::cyan});
  }
  text += bars(rows, look);
  if (largest.size() > shown_max) {
    text += "  and " + counted(largest.size() - shown_max, "more pair") + "\n";
  }
  return text;
}

std::string efficiency_chart(const run_report& report, const terminal& look) {
  const double whole = std::max(report.total_time, report.lower_bound);
  std::vector<row> rows;
  double at = 0;
  const auto add = [&](const char* name, double length, ink colour) {
    rows.push_back({.name = name,
                    .value = seconds(length),
                    .from = whole > 0 ? at / whole : 0,
                    .to = whole > 0 ? (at + length) / whole : 0,
                    .colour = colour});
    at += length;
  };
  add("lower bound", report.lower_bound, ink::green);
  add("dependency", report.gap_parts.dependency, ink::yellow);
  add("tail", report.gap_parts.tail, ink::yellow);
  add("admission", report.gap_parts.admission, ink::magenta);
  add("overhead", report.gap_parts.overhead, ink::red);
  at = 0;
  add("the run", report.total_time, ink::blue);
  return words(formatted("Efficiency: the run took %.2f times what it needs at least", report.gap),
               look) +
         bars(rows, look);
}

std::string comparison_chart(const run_report& report,
                             const std::optional<batch::benchmark_result>& measured,
                             const terminal& look) {
  struct bar_of {
    std::string name;
    double seconds;
    ink colour;
  };
  std::vector<bar_of> all = {
      {"lower bound", report.lower_bound, ink::grey},
      {"this run", report.total_time, ink::blue},
  };
  for (const batch::variant& how : batch::all_variants(report.record)) {
    all.push_back({how.name, batch::replay(report.record, how), ink::green});
  }
  if (measured) {
    for (const batch::measured_variant& each : measured->variants) {
      all.push_back({"measured: " + base::printable(each.how.name), each.time.mean, ink::cyan});
    }
  }
  double longest = 0;
  for (const bar_of& each : all) longest = std::max(longest, each.seconds);
  std::vector<row> rows;
  rows.reserve(all.size());
  for (const bar_of& each : all) {
    rows.push_back({.name = each.name,
                    .value = seconds(each.seconds),
                    .to = longest > 0 ? each.seconds / longest : 0,
                    .colour = each.colour});
  }
  std::string text =
      words("Comparison: the times of this run, scheduled in other ways (simulated)", look);
  text += bars(rows, look);
  if (measured) {
    for (const batch::difference& each : measured->differences) {
      const std::string who =
          base::printable(each.second) + " against " + base::printable(each.first);
      const batch::interval& change = each.change;
      text += words("  " + who + ": " +
                        (each.is_significant() ? formatted("%+.1f %% (%+.1f to %+.1f)", change.mean,
                                                           change.low, change.high)
                                               : std::string("no significant difference")),
                    look);
    }
  }
  return text;
}

}  // namespace weft::cli
