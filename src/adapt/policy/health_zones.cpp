#include <weft/adapt/policy/health_zones.hpp>

#include <algorithm>

#include <adapt/validate.hpp>

namespace weft {
namespace adapt {
namespace {

using std::chrono::nanoseconds;

constexpr unsigned adaptive_cap = 50;
constexpr unsigned static_cap = 1000;

// max / 2 may be below min, and is 0 when max is 1.
unsigned half(const health_zones_config& config) noexcept {
  return std::max(config.min, config.max / 2);
}

health_zone zone_of(unsigned score) noexcept {
  if (score <= 33) return health_zone::critical;
  return score <= 66 ? health_zone::warning : health_zone::safe;
}

// Ages beyond a year are alike, and negative ones are clocks that disagree.
nanoseconds sane(nanoseconds age) noexcept {
  return std::clamp(age, nanoseconds::zero(), nanoseconds(std::chrono::hours(24 * 365)));
}

enum class pace : std::uint8_t { at_once, gated, hold };

// A row of the decision table.
struct rule {
  unsigned target;
  decision_reason reason;
  adapt::pace pace;
};

// One poll in the making.
class tick {
 public:
  tick(const health_zones_state& before, const health_zones_config& config,
       const health_reading& reading, time_point now) noexcept
      : before_(before), config_(config), reading_(reading), now_(now), after_(before) {
    if (!after_.changed_at) after_.changed_at = now;
    if (!after_.sampled_at) after_.sampled_at = now;
  }

  health_zones_step run() noexcept {
    read_health();
    if (config_.enabled) {
      const unsigned inside = std::clamp(after_.limit, config_.min, config_.max);
      move_to(inside, decision_reason::bounds);
    }
    rule_ = choose();
    if (after_.limit == before_.limit) decision_.reason = rule_.reason;
    note_edges();
    follow();
    note_what_was_damped();
    note_floor();
    decision_.limit = after_.limit;
    decision_.target = rule_.target;
    decision_.zone = after_.zone;
    return {.state = after_, .decision = decision_};
  }

 private:
  void read_health() noexcept {
    after_.score.reset();
    after_.zone = health_zone::none;
    // Also false for NaN.
    const bool answered = reading_.score && *reading_.score >= 0 && *reading_.score <= 100;
    nanoseconds age = sane(reading_.age);
    if (answered) {
      // An answer may come from a monitor that lags behind the one before.
      after_.sampled_at = std::max(*after_.sampled_at, now_ - age);
    } else {
      age = std::max(age, nanoseconds(now_ - *after_.sampled_at));
    }
    if (age > config_.stale_after) {
      after_.answer = monitor_answer::stale;
    } else if (answered) {
      after_.answer = monitor_answer::score;
      after_.score = static_cast<unsigned>(*reading_.score);
      after_.zone = zone_of(*after_.score);
    } else {
      after_.answer = monitor_answer::timeout;
    }
    after_.circuit = reading_.circuit;
  }

  void note_edges() noexcept {
    if (after_.answer != before_.answer) {
      note(after_.answer == monitor_answer::stale     ? event_kind::stale_began
           : after_.answer == monitor_answer::timeout ? event_kind::timeout_began
                                                      : event_kind::health_recovered);
    }
    if (after_.circuit != before_.circuit) {
      note(after_.circuit == circuit::open ? event_kind::breaker_opened
                                           : event_kind::breaker_closed);
    }
    if (after_.score && before_.score && after_.score != before_.score) {
      decision_event changed = event(event_kind::score_changed);
      changed.from = *before_.score;
      changed.to = *after_.score;
      decision_.events.push(changed);
    }
  }

  [[nodiscard]] rule choose() const noexcept {
    if (!config_.enabled) {
      return {config_.static_concurrency, decision_reason::config, pace::at_once};
    }
    if (after_.circuit == circuit::open) {
      return {config_.min, decision_reason::circuit_open, pace::at_once};
    }
    if (after_.answer == monitor_answer::timeout) {
      return {after_.limit, decision_reason::health_timeout, pace::hold};
    }
    if (after_.answer == monitor_answer::stale) return choose_when_stale();
    switch (after_.zone) {
      case health_zone::critical:
        return {config_.min, decision_reason::health_critical, pace::at_once};
      case health_zone::warning:
        return {half(config_), decision_reason::health_warning, pace::gated};
      default:
        return {config_.max, decision_reason::health_safe, pace::gated};
    }
  }

  [[nodiscard]] rule choose_when_stale() const noexcept {
    switch (config_.stale_policy) {
      case stale_policy::hold:
        return {after_.limit, decision_reason::health_stale, pace::hold};
      case stale_policy::min:
        return {config_.min, decision_reason::health_stale, pace::gated};
      default:
        return {half(config_), decision_reason::health_stale, pace::gated};
    }
  }

  void follow() noexcept {
    switch (rule_.pace) {
      case pace::hold:
        // Without news the wish for more neither starts nor ends.
        decision_.gate = move_gate::hold;
        return;
      case pace::at_once:
        after_.wants_more_since.reset();
        note_bypass();
        move_to(rule_.target, rule_.reason);
        return;
      case pace::gated:
        if (rule_.target > after_.limit) {
          raise();
        } else {
          after_.wants_more_since.reset();
          reduce();
        }
        return;
    }
  }

  void raise() noexcept {
    if (!after_.wants_more_since) after_.wants_more_since = now_;
    const time_point opens =
        std::max(*after_.changed_at, *after_.wants_more_since) + config_.up_cooldown;
    if (now_ < opens) {
      shut(move_gate::up, opens - now_);
    } else if (config_.require_demand && !reading_.demand) {
      shut(move_gate::up, std::nullopt);
    } else {
      // Half of 1 is 0 in integers, and the limit would stay at 1 for ever.
      const unsigned most = after_.limit + std::max(1U, after_.limit / 2);
      move_to(std::min(rule_.target, most), rule_.reason);
    }
  }

  void reduce() noexcept {
    if (rule_.target == after_.limit) return;
    if (const auto wait = until_down_opens()) {
      shut(move_gate::down, wait);
    } else {
      move_to(rule_.target, rule_.reason);
    }
  }

  // Nothing when the gate is open.
  [[nodiscard]] std::optional<nanoseconds> until_down_opens() const noexcept {
    if (!after_.decreased_at) return std::nullopt;
    const time_point opens = *after_.decreased_at + config_.down_cooldown;
    if (now_ >= opens) return std::nullopt;
    return opens - now_;
  }

  void shut(move_gate gate, std::optional<nanoseconds> wait) noexcept {
    decision_.gate = gate;
    decision_.next_move = wait;
  }

  void move_to(unsigned limit, decision_reason reason) noexcept {
    if (limit == after_.limit) return;
    decision_event changed = event(event_kind::limit_changed);
    changed.reason = reason;
    changed.from = after_.limit;
    changed.to = limit;
    decision_.events.push(changed);
    decision_.reason = reason;
    // New bounds are no news of the health, so they do not delay what health asks for.
    if (limit < after_.limit && reason != decision_reason::bounds) after_.decreased_at = now_;
    after_.changed_at = now_;
    after_.limit = limit;
  }

  void note_bypass() noexcept {
    if (!config_.enabled || rule_.target >= after_.limit || !until_down_opens()) return;
    decision_event bypassed = event(event_kind::gate_bypassed);
    bypassed.gate = move_gate::down;
    bypassed.to = rule_.target;
    decision_.events.push(bypassed);
  }

  void note_what_was_damped() noexcept {
    const bool shut = decision_.gate == move_gate::up || decision_.gate == move_gate::down;
    if (!shut || after_.zone == before_.zone || before_.zone == health_zone::none) return;
    decision_event damped = event(event_kind::fluctuation_damped);
    damped.gate = decision_.gate;
    decision_.events.push(damped);
  }

  void note_floor() noexcept {
    if (rule_.reason != decision_reason::health_critical) return;
    if (before_.zone == health_zone::critical) return;
    note(event_kind::floor_enforced);
  }

  void note(event_kind kind) noexcept { decision_.events.push(event(kind)); }

  [[nodiscard]] decision_event event(event_kind kind) const noexcept {
    return {.kind = kind,
            .reason = rule_.reason,
            .zone = after_.zone,
            .gate = move_gate::none,
            .score = after_.score,
            .from = after_.limit,
            .to = after_.limit};
  }

  const health_zones_state& before_;
  const health_zones_config& config_;
  const health_reading& reading_;
  const time_point now_;
  health_zones_state after_;
  rule rule_{};
  weft::decision decision_;
};

}  // namespace

health_zones_state start(const health_zones_config& config,
                         std::optional<time_point> made) noexcept {
  health_zones_state state;
  state.limit = config.enabled ? half(config) : config.static_concurrency;
  state.changed_at = made;
  state.sampled_at = made;
  return state;
}

health_zones_step step(const health_zones_state& before, const health_zones_config& config,
                       const health_reading& reading, time_point now) noexcept {
  return tick(before, config, reading, now).run();
}

}  // namespace adapt

void validate(const health_zones_config& config) {
  using adapt::require_within;
  const unsigned cap = config.enabled ? adapt::adaptive_cap : adapt::static_cap;
  require_within("health_zones_config.max", config.max, 1U, cap);
  require_within("health_zones_config.min", config.min, 1U, config.max);
  require_within("health_zones_config.static_concurrency", config.static_concurrency, 1U,
                 adapt::static_cap);
  const auto require_seconds = [](std::string_view field, std::chrono::seconds value,
                                  std::int64_t low) {
    require_within<std::int64_t>(field, value.count(), low, 86400, " s");
  };
  require_seconds("health_zones_config.up_cooldown", config.up_cooldown, 30);
  require_seconds("health_zones_config.down_cooldown", config.down_cooldown, 30);
  require_seconds("health_zones_config.stale_after", config.stale_after, 1);
  if (config.stale_policy > stale_policy::min) {
    throw std::invalid_argument("health_zones_config.stale_policy must be half, hold or min");
  }
}

health_zones::health_zones(const health_zones_config& config)
    : config_((validate(config), config)), state_(adapt::start(config)) {}

health_zones::health_zones(const health_zones_config& config, adapt::time_point made)
    : config_((validate(config), config)), state_(adapt::start(config, made)) {}

decision health_zones::poll(const health_reading& reading, adapt::time_point now) noexcept {
  adapt::health_zones_step done = adapt::step(state_, config_, reading, now);
  state_ = done.state;
  return done.decision;
}

void health_zones::configure(const health_zones_config& config) {
  validate(config);
  config_ = config;
}

}  // namespace weft
