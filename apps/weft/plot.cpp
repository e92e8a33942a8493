#include "plot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace weft::cli {
namespace {

constexpr std::size_t margin = 6;  // "  100 "
constexpr unsigned score_step = 10;
constexpr unsigned most_limit_rows = 12;

struct column {
  bool seen = false;
  std::optional<unsigned> score;
  unsigned target = 0;
  unsigned current = 0;
};

void merge(column& into, const plot_point& point) {
  if (!into.seen) {
    into = {.seen = true, .score = point.score, .target = point.target, .current = point.current};
    return;
  }
  if (point.score && (!into.score || *point.score < *into.score)) into.score = point.score;
  into.target = std::min(into.target, point.target);
  into.current = std::min(into.current, point.current);
}

std::vector<column> to_columns(const std::vector<plot_point>& points, std::size_t count) {
  const double first = points.front().time_s;
  const double length = points.back().time_s - first;
  std::vector<column> columns(count);
  for (const plot_point& point : points) {
    const double place = length > 0 ? (point.time_s - first) / length : 0;
    const auto index = static_cast<std::size_t>(place * static_cast<double>(count - 1));
    merge(columns[index], point);
  }
  for (std::size_t i = 1; i < count; ++i) {
    if (!columns[i].seen) columns[i] = columns[i - 1];
  }
  return columns;
}

enum class ink { none, red, yellow, green, blue };

std::string_view code(ink colour) {
  switch (colour) {
    case ink::red:
      return "\x1b[31m";
    case ink::yellow:
      return "\x1b[33m";
    case ink::green:
      return "\x1b[32m";
    case ink::blue:
      return "\x1b[34m";
    case ink::none:
      break;
  }
  return "";
}

// Builds lines, with colours only where the terminal wants them.
class canvas {
 public:
  explicit canvas(bool colour) : colour_(colour) {}

  void begin_row(const std::string& label) {
    text_.append(margin - 1 - std::min(label.size(), margin - 1), ' ');
    text_ += label + ' ';
  }
  void put(char c, ink colour) {
    const bool painted = colour_ && colour != ink::none;
    if (painted) text_ += code(colour);
    text_ += c;
    if (painted) text_ += "\x1b[0m";
  }
  void end_row() {
    while (text_.ends_with(' ')) text_.pop_back();
    text_ += '\n';
  }
  void line(std::string_view words) { (text_ += words) += '\n'; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  bool colour_;
  std::string text_;
};

ink colour_of_score(unsigned score) {
  if (score <= 33) return ink::red;
  return score <= 66 ? ink::yellow : ink::green;
}

void draw_score(canvas& out, const std::vector<column>& columns) {
  out.line("score: * lowest, ? no answer");
  for (unsigned row = 100 / score_step + 1; row-- > 0;) {
    out.begin_row(row % 5 == 0 ? std::to_string(row * score_step) : "");
    for (const column& c : columns) {
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

void draw_limits(canvas& out, const std::vector<column>& columns) {
  unsigned top = 1;
  for (const column& c : columns) top = std::max({top, c.target, c.current});
  const unsigned per_row = (top + most_limit_rows - 1) / most_limit_rows;
  const auto row_of = [per_row](unsigned value) { return (value + per_row - 1) / per_row; };
  out.line("limit: # current, - target");
  for (unsigned row = row_of(top); row > 0; --row) {
    out.begin_row(std::to_string(row * per_row));
    for (const column& c : columns) {
      if (row <= row_of(c.current)) {
        out.put('#', ink::blue);
      } else {
        out.put(row == row_of(c.target) ? '-' : ' ', ink::none);
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
  out.line(std::string(margin, ' ') + first + gap + last);
}

}  // namespace

std::string plot(const std::vector<plot_point>& points, const terminal& look) {
  if (points.empty()) return "the trace has no rows\n";
  const std::size_t count = look.columns - margin;
  const std::vector<column> columns = to_columns(points, count);
  canvas out(look.colour);
  draw_score(out, columns);
  draw_limits(out, columns);
  draw_axis(out, points, count);
  return out.take();
}

}  // namespace weft::cli
