// What must hold for every configuration and every trace.

#include <weft/adapt/policy/health_zones.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <support/scale.hpp>

namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using weft::decision;
using weft::decision_reason;
using weft::health_reading;
using weft::health_zones;
using weft::health_zones_config;
using weft::stale_policy;
using weft::adapt::circuit;
using weft::adapt::time_point;

// RC_PARAMS in the environment overrides them.
const int seed_is_fixed =
    setenv("RC_PARAMS",
           weft::test::under_sanitizer ? "seed=4 max_success=100" : "seed=4 max_success=1000", 0);

// Watches the decisions of a policy with books of its own, kept by the words of the specification.
class auditor {
 public:
  auditor(const health_zones_config& config, time_point made)
      : config_(config), limit_(half()), changed_(made), sampled_(made) {}

  void configure(const health_zones_config& config) { config_ = config; }

  // What is wrong with the decision; empty when it may stand.
  std::string check(const health_reading& reading, const decision& d, time_point now) {
    const std::string wrong = judge(reading, d, now);
    keep_books(d, now);
    return wrong;
  }

  [[nodiscard]] int raises() const { return raises_; }
  [[nodiscard]] int reductions() const { return reductions_; }

 private:
  [[nodiscard]] unsigned within_bounds() const {
    return std::clamp(limit_, config_.min, config_.max);
  }
  [[nodiscard]] unsigned half() const { return std::max(config_.min, config_.max / 2); }

  std::string judge(const health_reading& reading, const decision& d, time_point now) {
    const bool answered = reading.score && *reading.score >= 0 && *reading.score <= 100;
    if (answered) sampled_ = std::max(sampled_, now - reading.age);
    const auto age = std::max<std::chrono::nanoseconds>(now - sampled_, reading.age);
    const bool stale = age > config_.stale_after;
    const bool fresh = answered && !stale;
    const int score = fresh ? static_cast<int>(*reading.score) : -1;
    const bool open = reading.circuit == circuit::open;
    const unsigned from = within_bounds();
    const bool clamped = from != limit_;

    if (d.limit < config_.min || d.limit > config_.max || d.limit > 50) return "outside bounds";
    if ((open || (fresh && score <= 33)) && d.limit != config_.min) return "not at the minimum";
    if (!open && !answered && !stale && d.limit != from) return "a timeout moved it";
    if (d.limit > from) {
      if (open) return "raised with the breaker open";
      if (d.limit - from > std::max(1U, from / 2)) return "raised by more than half";
      if (d.limit > half() && score < 67) return "raised above half without safe health";
      if (clamped || now - changed_ < config_.up_cooldown) return "raised within the cooldown";
      if (!wants_more_ || now - wanted_ < config_.up_cooldown)
        return "raised before it was wanted long";
    }
    const bool urgent = open || (fresh && score <= 33);
    if (d.limit < from && !urgent) {
      if (now - decreased_ < config_.down_cooldown) return "reduced within the cooldown";
    }
    // The wish for more begins, goes on through holds, or ends.
    if (open || (fresh && d.target <= from) || (stale && d.target <= from)) {
      if (!is_hold(d)) wants_more_ = false;
    } else if (d.target > from && !wants_more_) {
      wants_more_ = true;
      wanted_ = now;
    }
    return "";
  }

  static bool is_hold(const decision& d) { return d.gate == weft::move_gate::hold; }

  void keep_books(const decision& d, time_point now) {
    if (d.limit != limit_) changed_ = now;
    // New bounds are a change, and no reduction that another one has to wait for.
    if (d.limit < within_bounds()) decreased_ = now;
    if (d.limit < limit_) ++reductions_;
    if (d.limit > limit_) ++raises_;
    limit_ = d.limit;
  }

  health_zones_config config_;
  unsigned limit_;
  time_point changed_;
  time_point sampled_;
  time_point decreased_{-std::chrono::hours(24 * 365)};  // long ago
  bool wants_more_ = false;
  time_point wanted_{};
  int raises_ = 0;
  int reductions_ = 0;
};

rc::Gen<health_zones_config> configs() {
  return rc::gen::exec([] {
    health_zones_config config;
    config.max = *rc::gen::inRange(1U, 51U);
    config.min = *rc::gen::inRange(1U, config.max + 1);
    config.up_cooldown = seconds(*rc::gen::inRange(30, 600));
    config.down_cooldown = seconds(*rc::gen::inRange(30, 600));
    config.stale_after = seconds(*rc::gen::inRange(1, 300));
    config.stale_policy =
        *rc::gen::element(stale_policy::half, stale_policy::hold, stale_policy::min);
    return config;
  });
}

// Mostly ordinary scores, and everything a monitor may get wrong.
rc::Gen<health_reading> readings() {
  return rc::gen::exec([] {
    health_reading reading;
    const int kind = *rc::gen::inRange(0, 10);
    if (kind < 7) reading.score = *rc::gen::inRange(0, 101);
    if (kind == 7) reading.score = *rc::gen::element(-1.0, 101.0, 33.5, 66.9, 0.0 / 0.0);
    reading.age = seconds(*rc::gen::weightedElement<int>({{8, 0}, {2, 5}, {1, 100}, {1, 400}}));
    const bool open = *rc::gen::weightedElement<bool>({{9, false}, {1, true}});
    reading.circuit = open ? circuit::open : circuit::closed;
    return reading;
  });
}

RC_GTEST_PROP(HealthZonesProperties, BoundsStepsCooldownsAndHoldsAreKeptOnEveryTrace, ()) {
  health_zones_config config = *configs();
  time_point now{};
  health_zones policy(config, now);
  auditor books(config, now);
  for (int i = 0; i < 400; ++i) {
    now += seconds(*rc::gen::weightedElement<int>({{6, 1}, {4, 10}, {3, 60}, {1, 700}}));
    if (*rc::gen::inRange(0, 40) == 0) {
      config = *configs();
      policy.configure(config);
      books.configure(config);
    }
    const health_reading reading = *readings();
    RC_ASSERT(books.check(reading, policy.poll(reading, now), now) == "");
  }
}

RC_GTEST_PROP(HealthZonesProperties, PerfectHealthReachesTheMaximumInFiniteTime, ()) {
  const health_zones_config config = *configs();
  time_point now{};
  health_zones policy(config, now);
  policy.poll({.score = *rc::gen::inRange(0, 101)}, now);
  // From 1 to 50 in ten raises; one more cooldown until more has been wanted for long enough.
  for (int i = 0; i <= 11; ++i) {
    policy.poll({.score = 100}, now);
    now += config.up_cooldown;
  }
  RC_ASSERT(policy.poll({.score = 100}, now).limit == config.max);
}

RC_GTEST_PROP(HealthZonesProperties, ScoresThatSwingBetweenWarningAndSafeDoNotMakeItFlap, ()) {
  const health_zones_config config = *configs();
  time_point now{};
  health_zones policy(config, now);
  auditor books(config, now);
  for (int i = 0; i < 2000; ++i) {
    now += 1s;
    const health_reading reading{.score = *rc::gen::inRange(34, 101)};
    RC_ASSERT(books.check(reading, policy.poll(reading, now), now) == "");
  }
  RC_ASSERT(books.raises() <= 2000 / config.up_cooldown.count());
  RC_ASSERT(books.reductions() <= 1 + 2000 / config.down_cooldown.count());
}

RC_GTEST_PROP(HealthZonesProperties, ScoresThatChangeZoneEveryPollRaiseNothing, ()) {
  const health_zones_config config = *configs();
  time_point now{};
  health_zones policy(config, now);
  auditor books(config, now);
  for (int i = 0; i < 2000; ++i) {
    now += 1s;
    const health_reading reading{.score = i % 2 == 0 ? 20 : 90};
    RC_ASSERT(books.check(reading, policy.poll(reading, now), now) == "");
  }
  RC_ASSERT(books.raises() == 0);
}

RC_GTEST_PROP(HealthZonesProperties, CriticalHealthIsObeyedInOnePollFromEveryState, ()) {
  const health_zones_config config = *configs();
  time_point now{};
  health_zones policy(config, now);
  for (int i = 0; i < 50; ++i) {
    now += seconds(*rc::gen::inRange(1, 700));
    policy.poll(*readings(), now);
  }
  RC_ASSERT(policy.poll({.score = *rc::gen::inRange(0, 34)}, now + 1s).limit == config.min);
}

RC_GTEST_PROP(HealthZonesProperties, ATimeoutMovesNothingFromEveryState, ()) {
  const health_zones_config config = *configs();
  time_point now{};
  health_zones policy(config, now);
  for (int i = 0; i < 50; ++i) {
    now += seconds(*rc::gen::inRange(1, 700));
    policy.poll(*readings(), now);
  }
  const unsigned limit = policy.poll({.score = *rc::gen::inRange(0, 101)}, now).limit;
  now += seconds(*rc::gen::inRange(0, static_cast<int>(config.stale_after.count()) + 1));
  RC_ASSERT(policy.poll({}, now).limit == limit);
}

// A poll every ten seconds, with health that wanders, monitors that fall silent and operators who
// change their minds.
TEST(HealthZonesProperties, HundredThousandSimulatedHours) {
  constexpr std::uint64_t seed = 4;
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  health_zones_config config;
  time_point now{};
  health_zones policy(config, now);
  auditor books(config, now);
  int health = 80;
  int silent_for = 0;
  int broken_for = 0;
  const std::int64_t polls = 360LL * weft::test::rounds(100'000);
  for (std::int64_t i = 0; i < polls; ++i) {
    now += 10s;
    const int dice = below(1 << 16);
    if (dice == 0) {
      config.max = 1U + static_cast<unsigned>(below(50));
      config.min = 1U + static_cast<unsigned>(below(config.max));
      config.up_cooldown = seconds(30 + below(600));
      config.down_cooldown = seconds(30 + below(600));
      policy.configure(config);
      books.configure(config);
    }
    if (dice < 100) silent_for = below(60);
    if (dice > 65'500) broken_for = below(200);
    health = dice % 97 == 0 ? below(101) : std::clamp(health + below(7) - 3, 0, 100);
    health_reading reading;
    if (silent_for-- <= 0) reading.score = health;
    if (broken_for-- > 0) reading.circuit = circuit::open;
    const std::string wrong = books.check(reading, policy.poll(reading, now), now);
    if (!wrong.empty()) FAIL() << wrong << " at poll " << i;
  }
  std::cout << books.raises() << " raises, " << books.reductions() << " reductions\n";
  EXPECT_GT(books.raises(), polls / 10'000);
  EXPECT_GT(books.reductions(), polls / 10'000);
}

}  // namespace
