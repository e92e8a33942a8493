#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft {

// Which third of the scale a health score lies in.
enum class health_zone : std::uint8_t {
  none,      // no score that counts
  critical,  // 0-33
  warning,   // 34-66
  safe,      // 67-100
};

// Which rule set the target, whether or not the limit moved.
enum class decision_reason : std::uint8_t {
  health_critical,
  health_warning,
  health_safe,
  health_stale,    // the last score is too old to go by
  health_timeout,  // no score now, and the last one is recent
  circuit_open,    // too many attempts fail
  bounds,          // the limit was outside new bounds and went to the nearest
  config,          // adaptive scaling is off
};

// What kept the limit from moving to its target.
enum class move_gate : std::uint8_t {
  none,  // nothing: it moved, or is there
  up,    // the cooldown for raises, or no demand where demand is required
  down,  // the cooldown for reductions
  hold,  // without a score it moves neither way
};

[[nodiscard]] std::string_view name(health_zone zone) noexcept;
[[nodiscard]] std::string_view name(decision_reason reason) noexcept;
[[nodiscard]] std::string_view name(move_gate gate) noexcept;

namespace adapt {

enum class event_kind : std::uint8_t {
  limit_changed,
  gate_bypassed,       // a reduction that could not wait for its cooldown
  floor_enforced,      // health is critical and the minimum keeps running
  fluctuation_damped,  // the zone changed and a cooldown kept the limit where it was
  score_changed,
  timeout_began,
  stale_began,
  health_recovered,
  breaker_opened,
  breaker_closed,
};

enum class severity : std::uint8_t { debug, info, warning, critical };

[[nodiscard]] std::string_view name(event_kind kind) noexcept;
// How loud a service should log it.
[[nodiscard]] severity severity_of(event_kind kind) noexcept;

// Something a service logs; the policy itself has no log.
struct decision_event {
  event_kind kind = event_kind::limit_changed;
  decision_reason reason = decision_reason::config;
  health_zone zone = health_zone::none;
  move_gate gate = move_gate::none;              // of gate_bypassed and fluctuation_damped
  std::optional<unsigned> score = std::nullopt;  // rounded down; none without a score that counts
  unsigned from = 0;  // the limit before and after; of score_changed, the scores
  unsigned to = 0;
};

// The events of one decision, in the order they came about. Holds them in place: deciding does not
// allocate.
class event_list {
 public:
  // One poll can see an edge of the monitor, of the breaker and of the score, a change of bounds,
  // a bypass with its change, and a floor or a damped fluctuation.
  static constexpr std::size_t capacity = 8;

  void push(const decision_event& event) noexcept;

  [[nodiscard]] const decision_event* begin() const noexcept { return events_.data(); }
  [[nodiscard]] const decision_event* end() const noexcept { return begin() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const decision_event& operator[](std::size_t index) const noexcept {
    return events_[index];
  }
  // The first of this kind, or nullptr.
  [[nodiscard]] const decision_event* find(event_kind kind) const noexcept;

 private:
  std::array<decision_event, capacity> events_{};
  std::size_t size_ = 0;
};

}  // namespace adapt

// What a policy that watches health has decided.
struct decision {
  unsigned limit = 1;   // how much may run at once from now on
  unsigned target = 1;  // where the rules want it, before cooldowns and steps
  health_zone zone = health_zone::none;
  decision_reason reason = decision_reason::config;
  move_gate gate = move_gate::none;
  // How long the gate stays shut; nothing when no gate is, or when it does not open by time.
  std::optional<std::chrono::nanoseconds> next_move = std::nullopt;
  adapt::event_list events;
};

}  // namespace weft
