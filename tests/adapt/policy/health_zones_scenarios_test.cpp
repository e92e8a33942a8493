// The specification of adaptive concurrency, one test for each of its scenarios that concern the
// controller. Those about jobs, the API and metrics are with the service.

#include <weft/adapt/policy/health_zones.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "adapt/policy/controller.hpp"

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using weft::decision;
using weft::decision_reason;
using weft::health_zone;
using weft::health_zones;
using weft::health_zones_config;
using weft::move_gate;
using weft::adapt::circuit;
using weft::adapt::event_kind;
using weft::adapt::severity;
using weft::adapt::severity_of;
using weft::test::controller;
using weft::test::refusal;

// --- Dynamic concurrency adjustment --------------------------------------------------------------

TEST(DynamicConcurrencyAdjustment, ConcurrencyReductionInCriticalHealth) {
  controller c({.min = 1, .max = 10});
  const decision d = c.at(1s).score(33);
  EXPECT_EQ(d.limit, 1U);
  EXPECT_EQ(d.reason, decision_reason::health_critical);
  const auto* change = d.events.find(event_kind::limit_changed);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->from, 5U);
  EXPECT_EQ(change->to, 1U);
  EXPECT_EQ(change->score, 33U);
}

TEST(DynamicConcurrencyAdjustment, ConcurrencyReductionInWarningHealth) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  const decision d = c.later(1s).score(50);
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.reason, decision_reason::health_warning);
  const auto* change = d.events.find(event_kind::limit_changed);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->from, 10U);
  EXPECT_EQ(change->to, 5U);
  EXPECT_EQ(change->score, 50U);

  controller bounded({.min = 8, .max = 10});
  bounded.raise_to(10);
  EXPECT_EQ(bounded.later(1s).score(50).limit, 8U);
}

TEST(DynamicConcurrencyAdjustment, ConcurrencyIncreaseInSafeHealth) {
  controller c({.min = 1, .max = 10});
  const decision first = c.at(1s).score(67);
  EXPECT_EQ(first.target, 10U);
  EXPECT_EQ(first.limit, 5U);
  const decision raised = c.at(301s).score(67);
  EXPECT_EQ(raised.limit, 7U);
  const auto* change = raised.events.find(event_kind::limit_changed);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->reason, decision_reason::health_safe);
  EXPECT_EQ(change->score, 67U);
}

TEST(DynamicConcurrencyAdjustment, GradualScalingWithCooldown) {
  controller c({.min = 1, .max = 10});
  c.at(0s).score(10);
  std::vector<unsigned> limits;
  std::vector<long> moments;
  for (auto at = 1s; at <= 3600s; at += 1s) {
    const unsigned before = c.limit();
    if (c.at(at).score(100).limit != before) {
      limits.push_back(c.limit());
      moments.push_back(at.count());
    }
  }
  EXPECT_THAT(limits, ElementsAre(2, 3, 4, 6, 9, 10));
  EXPECT_THAT(moments, ElementsAre(301, 601, 901, 1201, 1501, 1801));
}

// --- Configurable concurrency bounds
// ---------------------------------------------------------------

TEST(ConfigurableConcurrencyBounds, MinimumConcurrencyEnforcement) {
  controller c({.min = 2, .max = 10});
  EXPECT_EQ(c.at(1s).score(0).limit, 2U);
  EXPECT_THAT(refusal({.min = 0}), HasSubstr("min is 0, and must be between 1 and 10"));
  EXPECT_THAT(refusal({.min = 11}), HasSubstr("min is 11, and must be between 1 and 10"));
  EXPECT_EQ(refusal({.min = 10}), "");
}

TEST(ConfigurableConcurrencyBounds, MaximumConcurrencyEnforcement) {
  controller c({.min = 1, .max = 7});
  for (auto at = 0s; at <= 7200s; at += 10s) EXPECT_LE(c.at(at).score(100).limit, 7U);
  EXPECT_EQ(c.limit(), 7U);
  EXPECT_NE(refusal({.min = 6, .max = 5}), "");
  EXPECT_EQ(refusal({.min = 5, .max = 5}), "");
}

TEST(ConfigurableConcurrencyBounds, DefaultConcurrencyBounds) {
  const health_zones_config defaults;
  EXPECT_EQ(defaults.min, 1U);
  EXPECT_EQ(defaults.max, 10U);
}

// --- Per-worker adaptive scaling toggle
// ------------------------------------------------------------

// Whoever makes a policy wants one, so `enabled` is on here. The service makes it with what the
// operator configured, which is off by default.
TEST(PerWorkerAdaptiveScalingToggle, AdaptiveScalingDisabledUsesTheStaticConcurrency) {
  controller c({.enabled = false, .static_concurrency = 6});
  for (const double score : {0.0, 50.0, 100.0}) {
    const decision d = c.later(600s).score(score);
    EXPECT_EQ(d.limit, 6U);
    EXPECT_EQ(d.reason, decision_reason::config);
    EXPECT_EQ(d.events.find(event_kind::limit_changed), nullptr);
  }
}

TEST(PerWorkerAdaptiveScalingToggle, EnablingAdaptiveScaling) {
  controller c({.enabled = false, .max = 10, .static_concurrency = 20});
  EXPECT_EQ(c.at(1s).score(50).limit, 20U);
  c.configure({.enabled = true, .max = 10, .static_concurrency = 20});
  EXPECT_EQ(c.at(2s).score(100).limit, 10U);
  EXPECT_EQ(c.at(3s).score(10).limit, 1U);
}

TEST(PerWorkerAdaptiveScalingToggle, DisablingAdaptiveScaling) {
  controller c({.max = 10, .static_concurrency = 8});
  EXPECT_EQ(c.at(1s).score(10).limit, 1U);
  c.configure({.enabled = false, .max = 10, .static_concurrency = 8});
  const decision d = c.at(2s).score(10);
  EXPECT_EQ(d.limit, 8U);
  EXPECT_EQ(d.reason, decision_reason::config);
  EXPECT_EQ(d.zone, health_zone::critical) << "health is still watched";
}

// --- Concurrency adjustment logging
// ------------------------------------------------------------------

TEST(ConcurrencyAdjustmentLogging, ConcurrencyChangeLogging) {
  controller c({.min = 1, .max = 10});
  const decision d = c.at(7s).score(12.9);
  const auto* change = d.events.find(event_kind::limit_changed);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(severity_of(change->kind), severity::info);
  EXPECT_EQ(change->from, 5U);
  EXPECT_EQ(change->to, 1U);
  EXPECT_EQ(change->score, 12U);
  EXPECT_EQ(change->zone, health_zone::critical);
  EXPECT_EQ(c.at(8s).score(12.9).events.find(event_kind::limit_changed), nullptr)
      << "a limit that stays is not logged";
}

TEST(ConcurrencyAdjustmentLogging, AdjustmentRateLimiting) {
  controller c({.min = 1, .max = 10});
  c.at(1s).score(50);
  const decision d = c.at(2s).score(80);
  const auto* change = d.events.find(event_kind::score_changed);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->from, 50U);
  EXPECT_EQ(change->to, 80U);
  EXPECT_EQ(severity_of(change->kind), severity::debug);
  EXPECT_EQ(d.events.find(event_kind::limit_changed), nullptr);
  const auto* damped = d.events.find(event_kind::fluctuation_damped);
  ASSERT_NE(damped, nullptr);
  EXPECT_EQ(damped->gate, move_gate::up);
  EXPECT_EQ(c.at(3s).score(81).events.find(event_kind::fluctuation_damped), nullptr)
      << "a steady zone is no fluctuation";
}

// --- Cooldown period configuration
// -------------------------------------------------------------------

TEST(CooldownPeriodConfiguration, DefaultCooldownPeriod) {
  const health_zones_config defaults;
  EXPECT_EQ(defaults.up_cooldown, 5min);
  EXPECT_EQ(defaults.down_cooldown, 1min);
}

TEST(CooldownPeriodConfiguration, CustomCooldownConfiguration) {
  EXPECT_THAT(refusal({.up_cooldown = 29s}),
              HasSubstr("up_cooldown is 29 s, and must be between 30 and 86400 s"));
  EXPECT_THAT(refusal({.down_cooldown = 29s}),
              HasSubstr("down_cooldown is 29 s, and must be between 30 and 86400 s"));
  EXPECT_EQ(refusal({.up_cooldown = 30s, .down_cooldown = 30s}), "");
  controller c({.up_cooldown = 30s});
  c.at(0s).score(100);
  EXPECT_EQ(c.at(29s).score(100).limit, 5U);
  EXPECT_EQ(c.at(30s).score(100).limit, 7U);
}

TEST(CooldownPeriodConfiguration, CooldownBypassForCriticalHealth) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  EXPECT_EQ(c.later(1s).score(50).limit, 5U);
  const decision d = c.later(1s).score(20);
  EXPECT_EQ(d.limit, 1U);
  const auto* bypass = d.events.find(event_kind::gate_bypassed);
  ASSERT_NE(bypass, nullptr);
  EXPECT_EQ(bypass->gate, move_gate::down);
  EXPECT_EQ(bypass->reason, decision_reason::health_critical);

  controller calm({.min = 1, .max = 10});
  EXPECT_EQ(calm.at(1s).score(20).events.find(event_kind::gate_bypassed), nullptr)
      << "no gate was shut";
}

// --- Health monitor unavailability
// -----------------------------------------------------------------

TEST(HealthMonitorUnavailability, HealthMonitorTimeout) {
  controller c({.min = 1, .max = 10});
  c.at(0s).score(100);
  const decision d = c.at(10s).timeout();
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.reason, decision_reason::health_timeout);
  const auto* warning = d.events.find(event_kind::timeout_began);
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(severity_of(warning->kind), severity::warning);
  EXPECT_TRUE(c.at(11s).timeout().events.empty()) << "said once, not at every poll";
}

TEST(HealthMonitorUnavailability, StaleHealthData) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  EXPECT_EQ(c.later(120s).timeout().limit, 10U);
  const decision d = c.later(1s).timeout();
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.reason, decision_reason::health_stale);
  const auto* warning = d.events.find(event_kind::stale_began);
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(severity_of(warning->kind), severity::warning);
}

TEST(HealthMonitorUnavailability, HealthMonitorRecovery) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  c.later(121s).timeout();
  const decision d = c.later(1s).score(100);
  const auto* recovery = d.events.find(event_kind::health_recovered);
  ASSERT_NE(recovery, nullptr);
  EXPECT_EQ(severity_of(recovery->kind), severity::info);
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.gate, move_gate::up);
  EXPECT_EQ(d.next_move, 300s);
}

// --- Safety limits and circuit breaker
// -------------------------------------------------------------

TEST(SafetyLimits, MaximumConcurrencyCap) {
  EXPECT_THAT(refusal({.max = 51}), HasSubstr("max is 51, and must be between 1 and 50"));
  EXPECT_EQ(refusal({.max = 50}), "");
  controller c({.max = 50});
  for (auto at = 0s; at <= 36000s; at += 30s) EXPECT_LE(c.at(at).score(100).limit, 50U);
  EXPECT_EQ(c.limit(), 50U);
}

TEST(SafetyLimits, MinimumConcurrencyFloor) {
  controller c({.min = 1, .max = 10});
  const decision d = c.at(1s).score(0);
  EXPECT_EQ(d.limit, 1U);
  EXPECT_NE(d.events.find(event_kind::floor_enforced), nullptr);
  const decision next = c.at(2s).score(0);
  EXPECT_EQ(next.limit, 1U);
  EXPECT_EQ(next.events.find(event_kind::floor_enforced), nullptr) << "said once";
}

TEST(SafetyLimits, ConcurrencyChangeRateLimit) {
  controller c({.min = 1, .max = 50});
  unsigned raises = 0;
  for (auto at = 0s; at < 3000s; at += 1s) {
    const unsigned before = c.limit();
    const unsigned after = c.at(at).score(100).limit;
    EXPECT_LE(after, before + std::max(1U, before / 2));
    raises += after > before ? 1 : 0;
  }
  EXPECT_LE(raises, 9U) << "one in 300 s";
  EXPECT_EQ(c.limit(), 50U);
}

TEST(SafetyLimits, CircuitBreakerForRepeatedFailures) {
  controller c({.min = 1, .max = 10});
  const decision d = c.at(1s).score(100, circuit::open);
  EXPECT_EQ(d.limit, 1U);
  EXPECT_EQ(d.reason, decision_reason::circuit_open);
  const auto* alert = d.events.find(event_kind::breaker_opened);
  ASSERT_NE(alert, nullptr);
  EXPECT_EQ(severity_of(alert->kind), severity::critical);
  for (auto at = 2s; at < 3600s; at += 10s) EXPECT_EQ(c.at(at).score(100, circuit::open).limit, 1U);
  const decision closed = c.at(3600s).score(100);
  EXPECT_NE(closed.events.find(event_kind::breaker_closed), nullptr);
  EXPECT_EQ(closed.limit, 1U);
  EXPECT_EQ(c.at(3900s).score(100).limit, 2U);
}

}  // namespace
