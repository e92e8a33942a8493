#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <weft/adapt/breaker.hpp>
#include <weft/adapt/policy/decision.hpp>
#include <weft/adapt/time_point.hpp>

namespace weft {

// Where the limit goes when the last health score is too old to go by.
enum class stale_policy : std::uint8_t {
  half,  // half of the maximum, as if the score were 50
  hold,  // nowhere
  min,   // the minimum
};

struct health_zones_config {
  // Adaptive scaling: the limit follows health between `min` and `max`, at most 50. Without it the
  // limit is `static_concurrency`.
  bool enabled = true;
  unsigned min = 1;
  unsigned max = 10;
  unsigned static_concurrency = 10;  // 1 to 1000
  // 30 s to 86400 s: how long nothing else may have changed, and more have been wanted, before a
  // raise; how long after a reduction the next one may come.
  std::chrono::seconds up_cooldown{300};
  std::chrono::seconds down_cooldown{60};
  std::chrono::seconds stale_after{120};  // 1 s to 86400 s; a score that is older does not count
  weft::stale_policy stale_policy = weft::stale_policy::half;
  bool require_demand = false;  // raises only when health_reading::demand says that it would help
};

// Errors: std::invalid_argument that names the field and what it may be.
void validate(const health_zones_config& config);

struct health_reading {
  // 0 to 100, rounded down. Nothing when the monitor gave no answer; a number outside the range and
  // NaN count as no answer too.
  std::optional<double> score = std::nullopt;
  // Since the score was measured. Without a score, since the last one at least: the policy also
  // goes by the scores it has seen.
  std::chrono::nanoseconds age{};
  adapt::circuit circuit = adapt::circuit::closed;
  bool demand = false;  // everything that may run was running, and more was waiting
};

namespace adapt {

// What the monitor gave at a poll.
enum class monitor_answer : std::uint8_t { score, timeout, stale };

struct health_zones_state {
  unsigned limit = 1;
  // Unknown until the first poll when the policy was not told when it was made.
  std::optional<time_point> changed_at = std::nullopt;    // the limit, either way; the start counts
  std::optional<time_point> sampled_at = std::nullopt;    // the newest score; the start counts
  std::optional<time_point> decreased_at = std::nullopt;  // the limit, but not by new bounds
  std::optional<time_point> wants_more_since =
      std::nullopt;  // target above limit at every poll but holds
  // What the last poll saw, to tell an edge.
  monitor_answer answer = monitor_answer::score;
  adapt::circuit circuit = adapt::circuit::closed;
  health_zone zone = health_zone::none;
  std::optional<unsigned> score = std::nullopt;
};

// The limit to begin with: half of the maximum, or the static one. `made` counts as a change of the
// limit and not as a decrease.
[[nodiscard]] health_zones_state start(const health_zones_config& config,
                                       std::optional<time_point> made = std::nullopt) noexcept;

struct health_zones_step {
  health_zones_state state;
  weft::decision decision;
};

// One poll. Pure: no clock, lock, thread, log or allocation. `config` is valid and may differ from
// that of the last poll.
//
// The first row that matches decides; before it, a limit outside the bounds goes to the nearest.
//
//   adaptive scaling is off   static_concurrency   at once
//   breaker open              min                  at once
//   no score, last one recent limit                hold
//   last score too old        half                 down: cooldown; up: cooldown and step
//   score 0-33                min                  at once
//   score 34-66               half                 down: cooldown; up: cooldown and step
//   score 67-100              max                  up: cooldown and step
//
// half = max(min, max / 2). A step raises by half of the limit, by 1 at least. A raise waits until
// the limit has not changed, and the target was above it at every poll, for the up cooldown; a
// reduction waits until the down cooldown has passed since the last one, new bounds aside.
[[nodiscard]] health_zones_step step(const health_zones_state& before,
                                     const health_zones_config& config,
                                     const health_reading& reading, time_point now) noexcept;

}  // namespace adapt

// Follows a health score: the minimum when it is critical, half of the maximum when it warns, the
// maximum in small steps when it is safe.
//
//   weft::health_zones policy({.min = 1, .max = 10});
//   limiter.set_limit(policy.poll({.score = 42, .age = 3s}, now).limit);
//
// Poll it about once a second, whether or not there is work: critical health takes effect at the
// next poll. Let what runs end by itself and start at most max(0, limit - running).
//
// Threads: one at a time. Errors: the constructor and configure() throw std::invalid_argument.
class health_zones {
 public:
  // Made at the first poll.
  explicit health_zones(const health_zones_config& config);
  health_zones(const health_zones_config& config, adapt::time_point made);

  decision poll(const health_reading& reading, adapt::time_point now) noexcept;

  // Takes effect at the next poll. A configuration that is refused changes nothing.
  void configure(const health_zones_config& config);

  [[nodiscard]] const health_zones_config& config() const noexcept { return config_; }
  [[nodiscard]] const adapt::health_zones_state& state() const noexcept { return state_; }

 private:
  health_zones_config config_;
  adapt::health_zones_state state_;
};

}  // namespace weft
