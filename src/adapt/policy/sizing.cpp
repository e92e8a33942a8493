#include <weft/adapt/policy/sizing.hpp>

#include <cmath>
#include <cstdio>

namespace weft::adapt {
namespace {

// Three significant figures are what windows of a second are worth.
std::string figure(double value) {
  char text[32];
  // Three digits, but never an exponent.
  const char* const format = std::abs(value) < 1000 ? "%.3g" : "%.0f";
  static_cast<void>(std::snprintf(text, sizeof text, format, value));
  return text;
}

std::string percent(double fraction) { return figure(100 * fraction) + " %"; }

std::string rates(const sizing& s) {
  return figure(s.measured) + " items/s against " + figure(s.compared);
}

std::string cause(const sizing& s) {
  switch (s.reason) {
    case sizing_reason::started:
      return figure(s.measured) + " CPUs are usable";
    case sizing_reason::no_demand:
      return "nothing is waiting";
    case sizing_reason::not_in_force:
      return "the window was worked by " + figure(s.measured) + " instead";
    case sizing_reason::measuring:
      return figure(s.measured) + " of " + figure(s.compared) + " items needed to judge are done";
    case sizing_reason::settled:
      return figure(s.measured) + " items/s, and neither more nor fewer would help";
    case sizing_reason::growing:
      return "they keep " + percent(s.measured) + " of " + figure(s.compared) + " CPUs busy";
    case sizing_reason::growth_kept:
      return "more workers paid, " + rates(s);
    case sizing_reason::growth_undone:
      return "more workers did not pay, " + rates(s);
    case sizing_reason::probing_down:
      return "whether fewer do as well as " + figure(s.measured) + " items/s";
    case sizing_reason::probe_kept:
      return "fewer workers do as well, " + rates(s);
    case sizing_reason::probe_undone:
      return "fewer workers do less, " + rates(s);
    case sizing_reason::work_changed:
      return "the work is not what it was, " + rates(s);
    case sizing_reason::machine_busy:
      return "the CPUs of the machine are " + figure(s.measured) + " % busy, above " +
             figure(s.compared) + " %";
    case sizing_reason::at_bounds:
      return "the bounds allow nothing else";
    case sizing_reason::settling:
      return "the last worker has not shown yet what it uses";
    case sizing_reason::cooling_down:
      return "the last worker was added a moment ago";
    case sizing_reason::unmeasured:
      return "the use of the machine cannot be read";
    case sizing_reason::worker_added:
      return "one more would use " + figure(s.measured) + " %, below " + figure(s.compared) + " %";
    case sizing_reason::no_headroom:
      return "one more would use " + figure(s.measured) + " %, not below " + figure(s.compared) +
             " %";
    case sizing_reason::batch_size:
      return "the batch has " + figure(s.measured) + " rules";
  }
  return "?";
}

}  // namespace

std::string_view name(sizing_reason reason) noexcept {
  switch (reason) {
    case sizing_reason::started:
      return "started";
    case sizing_reason::no_demand:
      return "no_demand";
    case sizing_reason::not_in_force:
      return "not_in_force";
    case sizing_reason::measuring:
      return "measuring";
    case sizing_reason::settled:
      return "settled";
    case sizing_reason::growing:
      return "growing";
    case sizing_reason::growth_kept:
      return "growth_kept";
    case sizing_reason::growth_undone:
      return "growth_undone";
    case sizing_reason::probing_down:
      return "probing_down";
    case sizing_reason::probe_kept:
      return "probe_kept";
    case sizing_reason::probe_undone:
      return "probe_undone";
    case sizing_reason::work_changed:
      return "work_changed";
    case sizing_reason::machine_busy:
      return "machine_busy";
    case sizing_reason::at_bounds:
      return "at_bounds";
    case sizing_reason::settling:
      return "settling";
    case sizing_reason::cooling_down:
      return "cooling_down";
    case sizing_reason::unmeasured:
      return "unmeasured";
    case sizing_reason::worker_added:
      return "worker_added";
    case sizing_reason::no_headroom:
      return "no_headroom";
    case sizing_reason::batch_size:
      return "batch_size";
  }
  return "?";
}

std::string explain(const sizing& s) {
  std::string text = std::to_string(s.before);
  if (s.workers != s.before) text += " to " + std::to_string(s.workers);
  text += text == "1" ? " worker: " : " workers: ";
  return text + cause(s);
}

}  // namespace weft::adapt
