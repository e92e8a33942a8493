#include "run_display.hpp"

#include <algorithm>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>

#include "ink.hpp"
#include "show.hpp"

namespace weft::cli {
namespace {

ink colour_of(rule_status status) {
  switch (status) {
    case rule_status::passed:
      return ink::green;
    case rule_status::flaky:
    case rule_status::warned:
      return ink::yellow;
    case rule_status::failed:
    case rule_status::timed_out:
      return ink::red;
    case rule_status::waiting:
    case rule_status::skipped:
      return ink::grey;
  }
  return ink::none;
}

// All of one width, so that ids stand below each other.
std::string word_for(rule_status status) {
  switch (status) {
    case rule_status::passed:
      return "pass   ";
    case rule_status::flaky:
      return "flaky  ";
    case rule_status::warned:
      return "warn   ";
    case rule_status::failed:
      return "FAIL   ";
    case rule_status::timed_out:
      return "TIMEOUT";
    case rule_status::skipped:
      return "skip   ";
    case rule_status::waiting:
      return "       ";
  }
  return "";
}

std::string label(const rule_record& rule) {
  std::string text = base::printable(rule.id);
  if (!rule.name.empty() && rule.name != rule.id) text += "  " + base::printable(rule.name);
  return text;
}

}  // namespace

void run_display::show(const run_event& event) {
  using kind = run_event::kind;
  const std::lock_guard lock(mutex_);
  // Ticks come much more often, unless this program was stopped, and a shell had the terminal.
  constexpr double stopped_for = 2;
  if (event.now - state_.now > stopped_for) out_.abandon();
  state_.now = event.now;
  switch (event.what) {
    case kind::began:
      state_.total = event.record.rules.size();
      state_.workers = event.record.workers;
      running_.resize(event.record.workers);
      for (const rule_record& rule : event.record.rules) {
        state_.ended += rule.status != rule_status::waiting ? 1 : 0;
        state_.failed += is_failure(rule.status) ? 1 : 0;
      }
      break;
    case kind::started: {
      const rule_record& rule = event.record.rules[event.index];
      const bool is_guess = rule.source == cost_source::guess;
      running_[event.worker] = {base::printable(rule.id), event.now, is_guess ? 0 : rule.predicted};
      break;
    }
    case kind::repeated: {
      running_[event.worker].reset();
      if (how_ != verbosity::verbose) break;
      const rule_record& rule = event.record.rules[event.index];
      out_.print(painted("again  ", ink::yellow, look_) + "  " + label(rule) + ": " +
                 base::printable(rule.message) + "\n");
      break;
    }
    case kind::finished:
      running_[event.worker].reset();
      ++state_.ended;
      state_.failed += is_failure(event.record.rules[event.index].status) ? 1 : 0;
      out_.print(ended_text(event));
      break;
    case kind::skipped:
      ++state_.ended;
      out_.print(ended_text(event));
      break;
    case kind::ending:
      out_.print(ending_text(event));
      break;
    case kind::stage:
      break;
    case kind::tick:
      draw(event);
      break;
  }
}

void run_display::show_status() {
  const std::lock_guard lock(mutex_);
  out_.print(status_text(state_, look_));
}

std::string run_display::ending_text(const run_event& event) const {
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(running_, [](const auto& each) { return each.has_value(); }));
  const std::string running = counted(count, "rule") + " running";
  switch (event.record.ending) {
    case run_ending::failed_fast:
      if (how_ == verbosity::quiet) return "";
      return "A rule failed: " + running + ", nothing more begins\n";
    case run_ending::out_of_time:
      if (how_ == verbosity::quiet) return "";
      return "Out of time: " + running + ", killed\n";
    case run_ending::interrupted:
      // Elsewhere whoever caught the signal has said so.
      return look_.interactive ? "Interrupted: " + running + "; Ctrl-C again kills what runs\n"
                               : "";
    case run_ending::none:
    case run_ending::complete:
      break;
  }
  return "";
}

std::string run_display::ended_text(const run_event& event) const {
  const rule_record& rule = event.record.rules[event.index];
  const bool fine = rule.status == rule_status::passed;
  const bool bad = is_failure(rule.status);
  if (how_ == verbosity::quiet && !bad) return "";
  if (how_ == verbosity::normal && fine && look_.interactive) return "";
  const std::string count = std::to_string(state_.ended);
  const std::string all = std::to_string(state_.total);
  std::string text =
      "[" + std::string(all.size() - std::min(all.size(), count.size()), ' ') + count + "/" + all +
      "] " + painted(word_for(rule.status), colour_of(rule.status), look_) + "  " + label(rule);
  if (rule.status == rule_status::skipped) {
    return text + ": " + base::printable(rule.skipped_for) + " failed\n";
  }
  text += "  " + format_duration(rule.duration);
  if (rule.attempts > 1) text += ", attempt " + std::to_string(rule.attempts);
  text += "\n";
  const bool explained = bad || rule.status == rule_status::warned || how_ == verbosity::verbose;
  return explained ? text + details(rule) : text;
}

// Why, and what it printed, set in from the left.
std::string run_display::details(const rule_record& rule) const {
  std::string text;
  if (!rule.message.empty()) text += indented(base::printable_lines(rule.message), "    ");
  if (!rule.output.empty()) text += indented(base::printable_lines(rule.output), "  | ");
  return text;
}

void run_display::draw(const run_event& event) {
  state_.remaining = event.remaining;
  state_.running.clear();
  for (unsigned worker = 0; worker < running_.size(); ++worker) {
    if (!running_[worker]) continue;
    const running_rule& rule = *running_[worker];
    state_.running.push_back({worker, rule.id, event.now - rule.began, rule.predicted});
  }
  if (!look_.interactive || how_ == verbosity::quiet) return;
  if (is_in_background()) {
    out_.abandon();
    return;
  }
  const terminal now = standard_output();  // it may have become smaller
  look_.columns = now.columns;
  look_.rows = now.rows;
  out_.show(live_lines(state_, look_), look_.columns);
}

}  // namespace weft::cli
