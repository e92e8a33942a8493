#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/batch/timeline.hpp>

#include "ink.hpp"
#include "run_charts.hpp"
#include "show.hpp"

namespace weft::cli {
namespace {

// What a worker does at a time.
enum class doing : std::uint8_t { nothing, work, critical, failed, retry, waits, tail, held, late };
constexpr std::size_t doings = 9;

struct sign {
  const char* unicode;
  const char* ascii;
  ink colour;
  const char* meaning;  // empty: needs no words
};

constexpr std::array<sign, doings> signs = {{
    {" ", " ", ink::none, ""},
    {"█", "#", ink::green, "busy"},
    {"▓", "@", ink::blue, "busy with the critical path"},
    {"x", "x", ink::red, "failed"},
    {"▒", "%", ink::yellow, "an attempt that was repeated"},
    {"·", ".", ink::grey, "idle: what is left waits for other rules"},
    {" ", " ", ink::none, ""},
    {"m", "m", ink::magenta, "idle: no room (memory, weight, load, limit of a batch)"},
    {"o", "o", ink::cyan, "idle although a rule was ready"},
}};

const char* drawn(doing what, const terminal& look) {
  const sign& s = signs[static_cast<std::size_t>(what)];
  return look.unicode ? s.unicode : s.ascii;
}

doing doing_of(batch::idle_reason why) {
  switch (why) {
    case batch::idle_reason::dependency:
      return doing::waits;
    case batch::idle_reason::tail:
      return doing::tail;
    case batch::idle_reason::admission:
      return doing::held;
    case batch::idle_reason::overhead:
      return doing::late;
  }
  return doing::nothing;
}

// The seconds of each thing that a worker does within a column.
using cell = std::array<double, doings>;

// The lines of all workers.
class grid {
 public:
  grid(unsigned workers, std::size_t columns, double seconds)
      : columns_(columns), per_column_(seconds / static_cast<double>(columns)) {
    cells_.resize(workers * columns);
  }

  void add(unsigned worker, double begin, double end, doing what) {
    if (per_column_ <= 0 || worker * columns_ >= cells_.size()) return;
    const auto column_at = [&](double when) {
      return std::min(columns_ - 1, static_cast<std::size_t>(std::max(0.0, when / per_column_)));
    };
    for (std::size_t column = column_at(begin); column <= column_at(end); ++column) {
      const double from = std::max(begin, static_cast<double>(column) * per_column_);
      const double to = std::min(end, static_cast<double>(column + 1) * per_column_);
      cells_[worker * columns_ + column][static_cast<std::size_t>(what)] +=
          std::max(0.0, to - from);
    }
  }

  // What a column shows: what takes most of it, but a failure always.
  [[nodiscard]] doing at(unsigned worker, std::size_t column) const {
    const cell& seconds = cells_[worker * columns_ + column];
    if (seconds[static_cast<std::size_t>(doing::failed)] > 0) return doing::failed;
    const auto most = std::ranges::max_element(seconds);
    return static_cast<doing>(most - seconds.begin());
  }

 private:
  std::size_t columns_;
  double per_column_;
  std::vector<cell> cells_;
};

grid grid_of(const run_report& report, std::size_t columns) {
  const run_record& record = report.record;
  const std::set<std::string_view> critical(report.critical_rules.begin(),
                                            report.critical_rules.end());
  grid made(record.workers, columns, report.total_time);
  for (const rule_record& rule : record.rules) {
    for (const attempt_record& attempt : rule.earlier) {
      made.add(attempt.worker, attempt.start, attempt.start + attempt.duration, doing::retry);
    }
    if (!has_run(rule.status)) continue;
    const doing what = is_failure(rule.status)      ? doing::failed
                       : critical.contains(rule.id) ? doing::critical
                                                    : doing::work;
    made.add(rule.worker, rule.start, rule.end(), what);
  }
  for (const batch::idle_span& span : batch::idle_spans(record)) {
    made.add(span.worker, span.begin, span.end, doing_of(span.why));
  }
  return made;
}

std::string legend(const std::set<doing>& used, const terminal& look) {
  std::string text;
  for (const doing each : used) {
    const sign& s = signs[static_cast<std::size_t>(each)];
    if (*s.meaning == '\0') continue;
    // Wrapped without the colour, which takes no columns.
    const std::string meaning = wrapped("    " + std::string(s.meaning), look.columns, 4);
    text += "  " + painted(drawn(each, look), s.colour, look) + meaning.substr(3) + "\n";
  }
  return text;
}

}  // namespace

std::string timeline_chart(const run_report& report, const terminal& look) {
  constexpr unsigned workers_shown_max = 64;
  if (report.total_time <= 0) return "Timeline: nothing ran\n";
  const unsigned workers = report.record.workers;
  const unsigned shown = std::min(workers, workers_shown_max);
  const std::size_t margin = std::to_string(workers - 1).size() + 3;
  const std::size_t columns = look.columns > margin + 8 ? look.columns - margin : 8;
  const grid cells = grid_of(report, columns);
  std::string text = "Timeline, " +
                     format_duration(report.total_time / static_cast<double>(columns)) +
                     " a column\n";
  std::set<doing> used;
  for (unsigned worker = 0; worker < shown; ++worker) {
    const std::string number = std::to_string(worker);
    std::string line = std::string(margin - 1 - number.size(), ' ') + number + " ";
    for (std::size_t column = 0; column < columns; ++column) {
      const doing what = cells.at(worker, column);
      used.insert(what);
      line += painted(drawn(what, look), signs[static_cast<std::size_t>(what)].colour, look);
    }
    text += without_trailing_blanks(line) + "\n";
  }
  if (shown < workers) text += "  and " + counted(workers - shown, "more worker") + "\n";
  const std::string last = format_duration(report.total_time);
  text += std::string(margin, ' ') + "0" +
          std::string(columns > last.size() + 1 ? columns - last.size() - 1 : 1, ' ') + last + "\n";
  return text + legend(used, look);
}

}  // namespace weft::cli
