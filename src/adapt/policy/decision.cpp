#include <weft/adapt/policy/decision.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>

namespace weft {

std::string_view name(health_zone zone) noexcept {
  switch (zone) {
    case health_zone::none:
      return "none";
    case health_zone::critical:
      return "critical";
    case health_zone::warning:
      return "warning";
    case health_zone::safe:
      return "safe";
  }
  return "?";
}

std::string_view name(decision_reason reason) noexcept {
  switch (reason) {
    case decision_reason::health_critical:
      return "health_critical";
    case decision_reason::health_warning:
      return "health_warning";
    case decision_reason::health_safe:
      return "health_safe";
    case decision_reason::health_stale:
      return "health_stale";
    case decision_reason::health_timeout:
      return "health_timeout";
    case decision_reason::circuit_open:
      return "circuit_open";
    case decision_reason::bounds:
      return "bounds";
    case decision_reason::config:
      return "config";
  }
  return "?";
}

std::string_view name(move_gate gate) noexcept {
  switch (gate) {
    case move_gate::none:
      return "none";
    case move_gate::up:
      return "up";
    case move_gate::down:
      return "down";
    case move_gate::hold:
      return "hold";
  }
  return "?";
}

namespace adapt {

std::string_view name(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::limit_changed:
      return "limit_changed";
    case event_kind::gate_bypassed:
      return "gate_bypassed";
    case event_kind::floor_enforced:
      return "floor_enforced";
    case event_kind::fluctuation_damped:
      return "fluctuation_damped";
    case event_kind::score_changed:
      return "score_changed";
    case event_kind::timeout_began:
      return "timeout_began";
    case event_kind::stale_began:
      return "stale_began";
    case event_kind::health_recovered:
      return "health_recovered";
    case event_kind::breaker_opened:
      return "breaker_opened";
    case event_kind::breaker_closed:
      return "breaker_closed";
  }
  return "?";
}

severity severity_of(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::score_changed:
    case event_kind::fluctuation_damped:
      return severity::debug;
    case event_kind::timeout_began:
    case event_kind::stale_began:
      return severity::warning;
    case event_kind::breaker_opened:
      return severity::critical;
    case event_kind::limit_changed:
    case event_kind::gate_bypassed:
    case event_kind::floor_enforced:
    case event_kind::health_recovered:
    case event_kind::breaker_closed:
      return severity::info;
  }
  return severity::info;
}

void event_list::push(const decision_event& event) noexcept {
  WEFT_ASSERT(size_ < capacity, "a decision has more events than its list can hold");
  events_[size_++] = event;
}

const decision_event* event_list::find(event_kind kind) const noexcept {
  const auto* found =
      std::find_if(begin(), end(), [kind](const decision_event& e) { return e.kind == kind; });
  return found == end() ? nullptr : found;
}

}  // namespace adapt
}  // namespace weft
