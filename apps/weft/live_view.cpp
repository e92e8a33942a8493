#include "live_view.hpp"

#include <algorithm>
#include <iterator>

#include <weft/base/units.hpp>

#include "ink.hpp"
#include "show.hpp"

namespace weft::cli {
namespace {

constexpr std::size_t bar_min = 10;
constexpr std::size_t bar_max = 40;
constexpr std::size_t rules_max = 16;

// Builds a line that fits, counting its columns.
class line_builder {
 public:
  line_builder(std::size_t columns, const terminal& look) : columns_(columns), look_(look) {}

  [[nodiscard]] std::size_t left() const { return columns_ - made_.width; }
  void add(const std::string& text, ink colour = ink::none) {
    const std::size_t width = std::min(width_of(text), left());
    made_.text += painted(fitted(text, width), colour, look_);
    made_.width += width;
  }
  [[nodiscard]] screen_line take() { return std::move(made_); }

 private:
  std::size_t columns_;
  const terminal& look_;
  screen_line made_;
};

std::string repeated(const char* sign, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += sign;
  return text;
}

// Of what changes while one looks: not more digits than can be read.
std::string ticking(double seconds) {
  return seconds < 60 ? formatted("%.1f s", seconds) : format_duration(seconds);
}

// The words beside the bar. What matters less is left out where there is no room.
struct part {
  std::string text;
  ink colour = ink::none;
  unsigned rank = 0;  // of those that matter, the lowest first
};

std::vector<part> parts_of(const live_state& state, std::size_t columns) {
  std::vector<part> parts;
  parts.push_back({std::to_string(state.ended) + "/" + std::to_string(state.total), ink::none, 0});
  if (state.failed > 0) parts.push_back({std::to_string(state.failed) + " failed", ink::red, 1});
  parts.push_back({std::to_string(state.running.size()) + " running", ink::none, 4});
  parts.push_back({ticking(state.now), ink::none, 3});
  if (state.remaining > 0) {
    parts.push_back({"about " + ticking(state.remaining) + " left", ink::none, 2});
  }
  parts.push_back({"t: status", ink::grey, 5});
  const auto width = [&] {
    std::size_t sum = 0;
    for (const part& each : parts) sum += width_of(each.text) + 2;
    return sum;
  };
  while (parts.size() > 1 && width() > columns) {
    parts.erase(std::ranges::max_element(parts, {}, &part::rank));
  }
  return parts;
}

screen_line bar_line(const live_state& state, std::size_t columns, const terminal& look) {
  const std::vector<part> parts = parts_of(state, columns);
  std::size_t words = 0;
  for (const part& each : parts) words += width_of(each.text) + 2;
  line_builder line(columns, look);
  if (columns >= words + bar_min) {
    const std::size_t width = std::min(bar_max, columns - words);
    const std::size_t filled = state.total == 0 ? width : width * state.ended / state.total;
    line.add(repeated(look.unicode ? "━" : "=", filled), state.failed > 0 ? ink::red : ink::green);
    line.add(repeated(look.unicode ? "─" : "-", width - filled), ink::grey);
    line.add("  ");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) line.add("  ");
    line.add(parts[i].text, parts[i].colour);
  }
  return line.take();
}

// Longer than the prediction by more than half, and by more than chance.
bool is_late(const live_rule& rule) {
  return rule.predicted > 0 && rule.elapsed > 1.5 * rule.predicted &&
         rule.elapsed - rule.predicted > 1;
}

screen_line rule_line(const live_rule& rule, std::size_t digits, std::size_t columns,
                      const terminal& look) {
  const std::string number = std::to_string(rule.worker);
  std::string time = "  " + ticking(rule.elapsed);
  if (rule.predicted > 0) time += " / " + format_duration(rule.predicted);
  line_builder line(columns, look);
  line.add(std::string(2 + digits - std::min(digits, number.size()), ' ') + number + "  ",
           ink::grey);
  if (line.left() >= width_of(time) + 4) {
    constexpr std::size_t id_max = 48;
    const std::size_t width = std::min(id_max, line.left() - width_of(time));
    line.add(shortened(rule.id, width));
    line.add(time, is_late(rule) ? ink::yellow : ink::grey);
  } else {
    line.add(shortened(rule.id, line.left()));
  }
  return line.take();
}

// Those to show, by worker.
std::vector<live_rule> shown_rules(const live_state& state, std::size_t most) {
  std::vector<live_rule> rules = state.running;
  if (rules.size() <= most) return rules;
  std::ranges::stable_sort(rules, std::ranges::greater(), &live_rule::elapsed);
  rules.resize(most);
  std::ranges::stable_sort(rules, {}, &live_rule::worker);
  return rules;
}

}  // namespace

std::vector<screen_line> live_lines(const live_state& state, const terminal& look) {
  const std::size_t columns = look.columns - 1;  // a full line would wrap on some terminals
  const std::size_t most = std::min<std::size_t>(rules_max, look.rows > 3 ? look.rows - 3 : 0);
  const std::vector<live_rule> rules = shown_rules(state, most);
  const std::size_t digits = std::to_string(state.workers - 1).size();
  std::vector<screen_line> lines = {bar_line(state, columns, look)};
  for (const live_rule& rule : rules) lines.push_back(rule_line(rule, digits, columns, look));
  if (most > 0 && rules.size() < state.running.size()) {
    line_builder line(columns, look);
    line.add(std::string(digits + 4, ' ') + "and " +
                 std::to_string(state.running.size() - rules.size()) + " more",
             ink::grey);
    lines.push_back(line.take());
  }
  return lines;
}

std::string status_text(const live_state& state, const terminal& look) {
  terminal tall = look;
  tall.rows = 1000;
  std::string text;
  for (const screen_line& line : live_lines(state, tall)) text += line.text + "\n";
  return text;
}

}  // namespace weft::cli
