#include "plot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "ink.hpp"

namespace weft::cli {
namespace {

constexpr std::size_t margin = 6;  // "  100 "
constexpr unsigned score_step = 10;
constexpr unsigned most_limit_rows = 12;

// The points that fall into one column of the plot.
struct column {
  bool seen = false;
  plot_point lowest;  // of each value by itself
  plot_point last;
};

void merge(column& into, const plot_point& point) {
  into.last = point;
  if (!into.seen) {
    into.seen = true;
    into.lowest = point;
    return;
  }
  plot_point& lowest = into.lowest;
  if (point.score && (!lowest.score || *point.score < *lowest.score)) lowest.score = point.score;
  lowest.target = std::min(lowest.target, point.target);
  lowest.current = std::min(lowest.current, point.current);
}

// What each column shows.
std::vector<plot_point> to_columns(const std::vector<plot_point>& points, std::size_t count) {
  const double first = points.front().time_s;
  const double length = points.back().time_s - first;
  std::vector<column> columns(count);
  for (const plot_point& point : points) {
    const double place = length > 0 ? (point.time_s - first) / length : 0;
    const auto index = static_cast<std::size_t>(place * static_cast<double>(count - 1));
    merge(columns[index], point);
  }
  std::vector<plot_point> shown;
  shown.reserve(count);
  plot_point before;
  for (const column& c : columns) {
    shown.push_back(c.seen ? c.lowest : before);
    if (c.seen) before = c.last;
  }
  return shown;
}

// Builds lines that fit the terminal, with colours only where it wants them.
class canvas {
 public:
  explicit canvas(const terminal& look) : look_(look) {}

  void begin_row(const std::string& label) {
    text_.append(margin - 1 - std::min(label.size(), margin - 1), ' ');
    text_ += label + ' ';
  }
  void put(char c, ink colour) { text_ += painted(std::string_view(&c, 1), colour, look_); }
  void end_row() {
    while (text_.ends_with(' ')) text_.pop_back();
    text_ += '\n';
  }
  void line(std::string_view words) { (text_ += words.substr(0, look_.columns)) += '\n'; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  terminal look_;
  std::string text_;
};

ink colour_of_score(unsigned score) {
  if (score <= 33) return ink::red;
  return score <= 66 ? ink::yellow : ink::green;
}

void draw_score(canvas& out, const std::vector<plot_point>& columns) {
  out.line("score: * lowest, ? no answer");
  for (unsigned row = 100 / score_step + 1; row-- > 0;) {
    out.begin_row(row % 5 == 0 ? std::to_string(row * score_step) : "");
    for (const plot_point& c : columns) {
      if (!c.score) {
        out.put(row == 0 ? '?' : ' ', ink::none);
      } else if ((*c.score + score_step / 2) / score_step == row) {
        out.put('*', colour_of_score(*c.score));
      } else {
        out.put(' ', ink::none);
      }
    }
    out.end_row();
  }
}

// A target below the bar is drawn into it: there the limit waits to come down.
void draw_limits(canvas& out, const std::vector<plot_point>& columns) {
  unsigned top = 1;
  for (const plot_point& c : columns) top = std::max({top, c.target, c.current});
  const unsigned per_row = (top + most_limit_rows - 1) / most_limit_rows;
  const auto row_of = [per_row](unsigned value) { return (value + per_row - 1) / per_row; };
  out.line("limit: # current, - target");
  for (unsigned row = row_of(top); row > 0; --row) {
    // The top row may stand for fewer than the others.
    out.begin_row(std::to_string(std::min(row * per_row, top)));
    for (const plot_point& c : columns) {
      if (row == row_of(c.target) && row != row_of(c.current)) {
        out.put('-', ink::none);
      } else {
        row <= row_of(c.current) ? out.put('#', ink::blue) : out.put(' ', ink::none);
      }
    }
    out.end_row();
  }
}

std::string seconds_text(double time) {
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof text, "%.12g s", time));
  return text;
}

void draw_axis(canvas& out, const std::vector<plot_point>& points, std::size_t count) {
  const std::string first = seconds_text(points.front().time_s);
  const std::string last = seconds_text(points.back().time_s);
  const std::size_t used = first.size() + last.size();
  const std::string gap(used < count ? count - used : 1, ' ');
  const std::string both = std::string(margin, ' ') + first + gap + last;
  // Where there is no room for both, the end says how long the trace is.
  out.line(used < count ? both : last);
}

}  // namespace

std::string plot(const std::vector<plot_point>& points, const terminal& look) {
  if (points.empty()) return "the trace has no rows\n";
  const std::size_t count = std::max<std::size_t>(look.columns, margin + 1) - margin;
  const std::vector<plot_point> columns = to_columns(points, count);
  canvas out(look);
  draw_score(out, columns);
  draw_limits(out, columns);
  draw_axis(out, points, count);
  return out.take();
}

}  // namespace weft::cli
