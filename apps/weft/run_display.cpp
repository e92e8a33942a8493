#include "run_display.hpp"

#include <algorithm>
#include <cmath>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>

#include "show.hpp"

namespace weft::cli {
namespace {

constexpr const char* green = "\x1b[32m";
constexpr const char* yellow = "\x1b[33m";
constexpr const char* red = "\x1b[31m";
constexpr const char* grey = "\x1b[90m";

const char* colour_of(rule_status status) {
  switch (status) {
    case rule_status::passed:
      return green;
    case rule_status::flaky:
    case rule_status::warned:
      return yellow;
    case rule_status::failed:
    case rule_status::timed_out:
      return red;
    case rule_status::waiting:
    case rule_status::skipped:
      return grey;
  }
  return "";
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
  switch (event.what) {
    case kind::began:
      for (const rule_record& rule : event.record.rules) {
        ended_ += rule.status != rule_status::waiting ? 1 : 0;
        failed_ += is_failure(rule.status) ? 1 : 0;
      }
      break;
    case kind::started:
      ++running_;
      break;
    case kind::repeated:
      --running_;
      if (how_ == verbosity::verbose) {
        clear_bar();
        const rule_record& rule = event.record.rules[event.index];
        out_ << painted("again  ", yellow) << "  " << label(rule) << ": "
             << base::printable(rule.message) << '\n';
      }
      break;
    case kind::finished:
      --running_;
      ++ended_;
      failed_ += is_failure(event.record.rules[event.index].status) ? 1 : 0;
      show_ended(event);
      break;
    case kind::skipped:
      ++ended_;
      show_ended(event);
      break;
    case kind::ending:
      show_ending(event);
      break;
    case kind::stage:
      break;
    case kind::tick:
      draw_bar(event);
      break;
  }
}

void run_display::close() {
  clear_bar();
  out_.flush();
}

void run_display::show_ending(const run_event& event) {
  if (how_ == verbosity::quiet) return;
  clear_bar();
  const std::string running = std::to_string(running_) + (running_ == 1 ? " rule" : " rules");
  switch (event.record.ending) {
    case run_ending::failed_fast:
      out_ << "A rule failed: " << running << " running, nothing more begins\n";
      break;
    case run_ending::out_of_time:
      out_ << "Out of time: " << running << " running, they are killed\n";
      break;
    case run_ending::none:
    case run_ending::complete:
    case run_ending::interrupted:  // whoever caught the signal has said so
      break;
  }
  out_.flush();
}

void run_display::show_ended(const run_event& event) {
  const rule_record& rule = event.record.rules[event.index];
  const bool fine = rule.status == rule_status::passed;
  const bool bad = is_failure(rule.status);
  if (how_ == verbosity::quiet && !bad) return;
  if (how_ == verbosity::normal && fine && look_.interactive) return;
  clear_bar();
  const std::size_t total = event.record.rules.size();
  const std::string count = std::to_string(ended_);
  const std::string all = std::to_string(total);
  out_ << '[' << std::string(all.size() - std::min(all.size(), count.size()), ' ') << count << '/'
       << all << "] " << painted(word_for(rule.status), colour_of(rule.status)) << "  "
       << label(rule);
  if (rule.status == rule_status::skipped) {
    out_ << ": " << base::printable(rule.skipped_for) << " failed\n";
  } else {
    out_ << "  " << format_duration(rule.duration);
    if (rule.attempts > 1) out_ << ", attempt " << rule.attempts;
    out_ << '\n';
    if (bad || rule.status == rule_status::warned || how_ == verbosity::verbose) show_details(rule);
  }
  out_.flush();
}

// Why, and what it printed, set in from the left.
void run_display::show_details(const rule_record& rule) {
  if (!rule.message.empty()) out_ << indented(base::printable_lines(rule.message), "    ");
  if (!rule.output.empty()) out_ << indented(base::printable_lines(rule.output), "  | ");
}

void run_display::draw_bar(const run_event& event) {
  if (!look_.interactive || how_ == verbosity::quiet) return;
  const std::size_t total = event.record.rules.size();
  std::string text = " " + std::to_string(ended_) + "/" + std::to_string(total);
  if (failed_ > 0) text += "  " + std::to_string(failed_) + " failed";
  text += "  " + std::to_string(running_) + " running  " + format_duration(event.now);
  if (event.remaining > 0) text += ", about " + format_duration(event.remaining) + " left";
  const std::size_t width = look_.columns > text.size() + 12
                                ? std::min<std::size_t>(40, look_.columns - text.size() - 3)
                                : 0;
  clear_bar();
  if (width > 0) {
    const std::size_t filled = total == 0 ? width : width * ended_ / total;
    out_ << '[' << painted(std::string(filled, '='), failed_ > 0 ? red : green)
         << std::string(width - filled, ' ') << ']';
  }
  out_ << text.substr(0, look_.columns - 1);
  out_.flush();
  has_bar_ = true;
}

void run_display::clear_bar() {
  if (!has_bar_) return;
  out_ << "\r\x1b[K";
  has_bar_ = false;
}

std::string run_display::painted(const std::string& text, const char* colour) const {
  return look_.colour && *colour != 0 ? colour + text + "\x1b[0m" : text;
}

}  // namespace weft::cli
