// The points that the specification leaves open, and how they are settled.

#include <weft/adapt/policy/health_zones.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "adapt/policy/controller.hpp"

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using weft::decision;
using weft::decision_reason;
using weft::health_reading;
using weft::health_zone;
using weft::health_zones;
using weft::health_zones_config;
using weft::move_gate;
using weft::stale_policy;
using weft::adapt::circuit;
using weft::adapt::event_kind;
using weft::adapt::time_point;
using weft::test::controller;
using weft::test::refusal;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// --- Targets and steps ---------------------------------------------------------------------------

TEST(HealthZones, SafeHealthSetsTheTargetToTheMaximumAtOnceAndTheLimitFollowsInSteps) {
  controller c({.max = 10});
  const decision d = c.at(0s).score(100);
  EXPECT_EQ(d.target, 10U);
  EXPECT_EQ(d.limit, 5U);
}

TEST(HealthZones, ALimitOfOneCanRise) {
  controller c({.max = 10});
  c.at(0s).score(0);
  c.at(1s).score(100);
  EXPECT_EQ(c.at(301s).score(100).limit, 2U);
}

TEST(HealthZones, HalfIsRoundedDownAndAtLeastTheMinimum) {
  const auto half = [](unsigned min, unsigned max) {
    return controller({.min = min, .max = max}).at(0s).score(50).target;
  };
  EXPECT_EQ(half(1, 1), 1U);
  EXPECT_EQ(half(1, 2), 1U);
  EXPECT_EQ(half(1, 3), 1U);
  EXPECT_EQ(half(1, 5), 2U);
  EXPECT_EQ(half(1, 50), 25U);
}

TEST(HealthZones, TheMinimumWinsOverHalfOfTheMaximum) {
  controller c({.min = 7, .max = 10});
  EXPECT_EQ(c.at(0s).score(50).target, 7U);
  controller fixed({.min = 4, .max = 4});
  for (const double score : {0.0, 50.0, 100.0}) EXPECT_EQ(fixed.later(400s).score(score).limit, 4U);
}

TEST(HealthZones, ComingUpFromCriticalIntoWarningObeysStepAndCooldown) {
  controller c({.max = 50});
  c.at(0s).score(0);
  EXPECT_EQ(c.at(1s).score(50).target, 25U);
  EXPECT_EQ(c.at(300s).score(50).limit, 1U);
  EXPECT_EQ(c.at(301s).score(50).limit, 2U);
}

TEST(HealthZones, OneToTenTakesSixRaisesAndOneToFiftyTen) {
  const auto raises = [](unsigned max) {
    controller c({.max = max});
    c.at(0s).score(0);
    unsigned count = 0;
    for (auto at = 1s; c.limit() < max; at += 1s) {
      const unsigned before = c.limit();
      count += c.at(at).score(100).limit > before ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(raises(10), 6U);
  EXPECT_EQ(raises(50), 10U);
}

TEST(HealthZones, ADecisionSaysWhenTheNextRaiseMayCome) {
  controller c({.max = 10});
  EXPECT_EQ(c.at(0s).score(100).next_move, 300s);
  EXPECT_EQ(c.at(299s).score(100).next_move, 1s);
  const decision raised = c.at(300s).score(100);
  EXPECT_EQ(raised.gate, move_gate::none);
  EXPECT_EQ(raised.next_move, std::nullopt);
  EXPECT_EQ(c.at(301s).score(100).next_move, 299s);
}

// --- Gates ---------------------------------------------------------------------------------------

TEST(HealthZones, ARaiseDoesNotDelayAReduction) {
  controller c({.max = 10});
  c.at(0s).score(100);
  EXPECT_EQ(c.at(300s).score(100).limit, 7U);
  EXPECT_EQ(c.at(301s).score(50).limit, 5U);
}

TEST(HealthZones, TheSecondReductionWaitsForTheDownCooldown) {
  controller c({.max = 10});
  c.raise_to(10);
  EXPECT_EQ(c.later(1s).score(50).limit, 5U);
  c.configure({.max = 8});
  const decision shut = c.later(59s).score(50);
  EXPECT_EQ(shut.limit, 5U);
  EXPECT_EQ(shut.target, 4U);
  EXPECT_EQ(shut.gate, move_gate::down);
  EXPECT_EQ(shut.next_move, 1s);
  EXPECT_EQ(c.later(1s).score(50).limit, 4U);
}

TEST(HealthZones, TheStartIsAChangeAndNotADecrease) {
  controller up({.max = 10});
  EXPECT_EQ(up.at(299s).score(100).limit, 5U) << "less than 300 s since the start";
  controller down({.max = 10});
  down.configure({.max = 8});
  EXPECT_EQ(down.at(1s).score(50).limit, 4U);
}

TEST(HealthZones, ARaiseWaitsSinceTheLastReductionToo) {
  controller c({.max = 10});
  c.raise_to(10);
  c.later(1s).score(50);
  c.later(1s).score(100);
  EXPECT_EQ(c.later(298s).score(100).limit, 5U);
  EXPECT_EQ(c.later(2s).score(100).limit, 7U);
}

TEST(HealthZones, OneGoodSampleAfterTheCooldownRaisesNothing) {
  controller c({.max = 10});
  for (auto at = 0s; at < 1000s; at += 10s) c.at(at).score(50);
  EXPECT_EQ(c.at(1000s).score(100).limit, 5U);
}

TEST(HealthZones, ADipRestartsTheWaitForARaise) {
  controller c({.max = 10});
  c.at(0s).score(100);
  c.at(299s).score(66);
  const decision d = c.at(300s).score(100);
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.next_move, 300s);
  EXPECT_EQ(c.at(600s).score(100).limit, 7U);
}

TEST(HealthZones, CriticalHealthTakesEffectInOnePoll) {
  controller c({.max = 50});
  c.raise_to(50);
  EXPECT_EQ(c.later(1s).score(0).limit, 1U);
}

// --- No score ------------------------------------------------------------------------------------

TEST(HealthZones, ATimeoutMovesNothingAfterSafeAndAfterWarningHealth) {
  controller c({.max = 10});
  c.at(0s).score(100);
  c.at(299s).score(100);
  const decision d = c.at(300s).timeout();
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.target, 5U);
  EXPECT_EQ(d.gate, move_gate::hold);
  EXPECT_EQ(d.next_move, std::nullopt);
  EXPECT_EQ(d.zone, health_zone::none);
}

TEST(HealthZones, ATimeoutDoesNotRestartTheWaitForARaise) {
  controller c({.max = 10});
  c.at(0s).score(100);
  c.at(290s).score(100);
  c.at(299s).timeout();
  EXPECT_EQ(c.at(300s).score(100).limit, 7U);
}

TEST(HealthZones, AScoreIsStaleWhenItIsOlderThanTwoMinutesAndNotWhenExactly) {
  controller c({.max = 10});
  EXPECT_EQ(c.at(120s).timeout().reason, decision_reason::health_timeout);
  EXPECT_EQ(c.at(120s + 1ns).timeout().reason, decision_reason::health_stale);
}

TEST(HealthZones, AnAnswerCountsByWhenItWasMeasured) {
  controller c({.max = 10});
  EXPECT_EQ(c.at(200s).poll({.score = 90, .age = 120s}).reason, decision_reason::health_safe);
  EXPECT_EQ(c.at(200s).poll({.score = 0, .age = 121s}).reason, decision_reason::health_stale);
  EXPECT_EQ(c.at(300s).poll({.score = 90, .age = 100s}).reason, decision_reason::health_safe);
  EXPECT_EQ(c.at(321s).timeout().reason, decision_reason::health_stale)
      << "the last score was measured at second 200";
}

TEST(HealthZones, AnOlderScoreDoesNotMakeTheNewestOneOlder) {
  controller c({.max = 10});
  c.at(100s).score(80);
  c.at(110s).poll({.score = 80, .age = 100s});
  EXPECT_EQ(c.at(140s).timeout().reason, decision_reason::health_timeout)
      << "the newest score is 40 s old";
  EXPECT_EQ(c.at(221s).timeout().reason, decision_reason::health_stale);
}

TEST(HealthZones, WithoutAScoreTheAgeGivenCountsWhenItIsLonger) {
  controller c({.max = 10});
  EXPECT_EQ(c.at(10s).poll({.age = 121s}).reason, decision_reason::health_stale);
}

TEST(HealthZones, StaleHealthAfterCriticalRaisesByStepsOnly) {
  controller c({.max = 10});
  c.at(0s).score(0);
  c.at(121s).timeout();
  EXPECT_EQ(c.limit(), 1U);
  EXPECT_EQ(c.at(420s).timeout().limit, 1U);
  EXPECT_EQ(c.at(421s).timeout().limit, 2U);
}

TEST(HealthZones, StaleHealthReducesThroughTheDownGate) {
  controller c({.max = 10, .stale_after = 10s});
  c.raise_to(10);
  c.later(1s).score(50);
  c.configure({.max = 8, .stale_after = 10s});
  const decision d = c.later(11s).timeout();
  EXPECT_EQ(d.reason, decision_reason::health_stale);
  EXPECT_EQ(d.gate, move_gate::down);
  EXPECT_EQ(d.limit, 5U);
}

TEST(HealthZones, StalePolicyHoldStaysAndStalePolicyMinGoesToTheMinimum) {
  controller hold({.max = 10, .stale_policy = stale_policy::hold});
  hold.raise_to(10);
  const decision held = hold.later(121s).timeout();
  EXPECT_EQ(held.limit, 10U);
  EXPECT_EQ(held.gate, move_gate::hold);
  EXPECT_EQ(held.reason, decision_reason::health_stale);
  controller min({.min = 2, .max = 10, .stale_policy = stale_policy::min});
  min.raise_to(10);
  EXPECT_EQ(min.later(121s).timeout().limit, 2U);
}

TEST(HealthZones, WithoutAnyScoreItStartsAtHalfAndStaysThere) {
  controller c({.max = 9});
  EXPECT_EQ(c.at(0s).timeout().limit, 4U);
  EXPECT_EQ(c.at(121s).timeout().limit, 4U);
}

TEST(HealthZones, RecoveryResetsNoTimerAndCriticalStillBypasses) {
  controller c({.max = 10});
  c.at(0s).score(100);
  c.at(290s).score(100);
  for (auto at = 291s; at < 300s; at += 1s) c.at(at).timeout();
  EXPECT_EQ(c.at(300s).score(100).limit, 7U);
  c.at(350s).timeout();
  EXPECT_EQ(c.at(351s).score(1).limit, 1U);
}

TEST(HealthZones, RepeatedTimeoutsAndRecoveriesAreEachToldOnce) {
  controller c({.max = 10});
  EXPECT_EQ(c.at(0s).score(50).events.size(), 0U);
  EXPECT_NE(c.at(1s).timeout().events.find(event_kind::timeout_began), nullptr);
  EXPECT_NE(c.at(121s).timeout().events.find(event_kind::stale_began), nullptr);
  EXPECT_TRUE(c.at(122s).timeout().events.empty());
  EXPECT_NE(c.at(123s).score(50).events.find(event_kind::health_recovered), nullptr);
  EXPECT_TRUE(c.at(124s).score(50).events.empty());
}

// --- Scores --------------------------------------------------------------------------------------

TEST(HealthZones, ZonesEndAt33And66) {
  const auto zone = [](double score) { return controller({}).at(0s).score(score).zone; };
  EXPECT_EQ(zone(0), health_zone::critical);
  EXPECT_EQ(zone(33), health_zone::critical);
  EXPECT_EQ(zone(34), health_zone::warning);
  EXPECT_EQ(zone(66), health_zone::warning);
  EXPECT_EQ(zone(67), health_zone::safe);
  EXPECT_EQ(zone(100), health_zone::safe);
}

TEST(HealthZones, FractionsAreRoundedDown) {
  const auto zone = [](double score) { return controller({}).at(0s).score(score).zone; };
  EXPECT_EQ(zone(33.999), health_zone::critical);
  EXPECT_EQ(zone(66.999), health_zone::warning);
}

TEST(HealthZones, ScoresThatAreNoneCountAsNoAnswer) {
  for (const double score : {not_a_number, infinite, -infinite, -0.5, -1.0, 100.5, 101.0, 1e300}) {
    controller c({.max = 10});
    const decision d = c.at(1s).score(score);
    EXPECT_EQ(d.reason, decision_reason::health_timeout) << score;
    EXPECT_EQ(d.limit, 5U) << score;
    EXPECT_EQ(c.at(121s).score(score).reason, decision_reason::health_stale) << score;
  }
}

TEST(HealthZones, AgesFromClocksThatDisagreeDoNoHarm) {
  controller c({.max = 10});
  EXPECT_EQ(c.at(1s).poll({.score = 90, .age = -5s}).reason, decision_reason::health_safe);
  EXPECT_EQ(c.at(2s).poll({.score = 90, .age = std::chrono::nanoseconds::max()}).reason,
            decision_reason::health_stale);
  EXPECT_EQ(c.at(3s).poll({.score = 90, .age = std::chrono::nanoseconds::min()}).reason,
            decision_reason::health_safe);
}

// --- Breaker -------------------------------------------------------------------------------------

TEST(HealthZones, AnOpenBreakerGoesToTheMinimumWhateverHealthSays) {
  controller c({.min = 2, .max = 10});
  c.raise_to(10);
  EXPECT_EQ(c.later(1s).score(100, circuit::open).limit, 2U);
  EXPECT_EQ(c.later(1s).poll({.circuit = circuit::open}).reason, decision_reason::circuit_open);
}

TEST(HealthZones, AnOpenBreakerBypassesTheDownGate) {
  controller c({.max = 10});
  c.raise_to(10);
  c.later(1s).score(50);
  const decision d = c.later(1s).score(100, circuit::open);
  EXPECT_EQ(d.limit, 1U);
  EXPECT_NE(d.events.find(event_kind::gate_bypassed), nullptr);
}

TEST(HealthZones, TheBreakerIsToldOnceAtEachEdge) {
  controller c({});
  EXPECT_NE(c.at(0s).score(50, circuit::open).events.find(event_kind::breaker_opened), nullptr);
  EXPECT_TRUE(c.at(1s).score(50, circuit::open).events.empty());
  EXPECT_NE(c.at(2s).score(50).events.find(event_kind::breaker_closed), nullptr);
}

TEST(HealthZones, AMinimumRaisedWhileTheBreakerIsOpenWinsAtOnce) {
  controller c({.min = 1, .max = 10});
  c.at(0s).score(100, circuit::open);
  c.configure({.min = 4, .max = 10});
  const decision d = c.at(1s).score(100, circuit::open);
  EXPECT_EQ(d.limit, 4U);
  EXPECT_EQ(d.reason, decision_reason::bounds);
}

// --- Changes of the configuration ----------------------------------------------------------------

TEST(HealthZones, ALimitOutsideNewBoundsGoesToTheNearestWithoutACooldown) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  c.configure({.min = 1, .max = 6});
  const decision lower = c.later(1s).score(100);
  EXPECT_EQ(lower.limit, 6U);
  EXPECT_EQ(lower.reason, decision_reason::bounds);
  c.configure({.min = 9, .max = 10});
  const decision higher = c.later(1s).score(100);
  EXPECT_EQ(higher.limit, 9U);
  EXPECT_EQ(higher.reason, decision_reason::bounds);
  EXPECT_EQ(c.later(1s).score(100).reason, decision_reason::health_safe) << "for one poll";
}

TEST(HealthZones, NewBoundsDelayARaiseAndNoReduction) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  c.configure({.min = 1, .max = 9});
  const decision warning = c.later(1s).score(50);
  EXPECT_EQ(warning.limit, 4U);
  EXPECT_EQ(warning.gate, move_gate::none);

  controller up({.min = 1, .max = 10});
  up.raise_to(10);
  up.configure({.min = 1, .max = 6});
  up.later(1s).score(100);
  up.configure({.min = 1, .max = 10});
  EXPECT_EQ(up.later(1s).score(100).gate, move_gate::up);
}

TEST(HealthZones, NewBoundsAndCriticalHealthInOnePollAreTwoChanges) {
  controller c({.min = 1, .max = 10});
  c.raise_to(10);
  c.configure({.min = 1, .max = 6});
  const decision d = c.later(1s).score(0);
  EXPECT_EQ(d.limit, 1U);
  EXPECT_EQ(d.reason, decision_reason::health_critical);
  std::vector<decision_reason> reasons;
  for (const auto& event : d.events) {
    if (event.kind == event_kind::limit_changed) reasons.push_back(event.reason);
  }
  EXPECT_THAT(reasons, ElementsAre(decision_reason::bounds, decision_reason::health_critical));
  EXPECT_EQ(d.events.find(event_kind::gate_bypassed), nullptr) << "no gate was shut";
}

TEST(HealthZones, ARefusedConfigurationChangesNothing) {
  controller c({.min = 1, .max = 10});
  EXPECT_THROW(c.configure({.min = 4, .max = 51}), std::invalid_argument);
  EXPECT_EQ(c.at(1s).score(100).target, 10U);
  EXPECT_EQ(c.at(2s).score(0).limit, 1U);
}

TEST(HealthZones, TurnedOffItGoesToTheStaticLimitInEitherDirectionAtOnce) {
  controller c({.max = 10, .static_concurrency = 3});
  c.configure({.enabled = false, .static_concurrency = 3});
  EXPECT_EQ(c.at(1s).score(100).limit, 3U);
  c.configure({.enabled = false, .static_concurrency = 900});
  EXPECT_EQ(c.at(2s).score(0).limit, 900U);
}

TEST(HealthZones, TurnedOnItStartsFromTheStaticLimitWithinTheBounds) {
  controller c({.enabled = false, .static_concurrency = 3});
  c.configure({.min = 1, .max = 10});
  EXPECT_EQ(c.at(1s).score(100).limit, 3U);
}

TEST(HealthZones, ANewCooldownHoldsForWaitsThatRun) {
  controller c({.up_cooldown = 300s});
  c.at(0s).score(100);
  c.configure({.up_cooldown = 100s});
  EXPECT_EQ(c.at(99s).score(100).limit, 5U);
  EXPECT_EQ(c.at(100s).score(100).limit, 7U);
}

TEST(HealthZones, FieldsOutOfRangeAreRefusedByName) {
  EXPECT_THAT(refusal({.max = 0}), HasSubstr("health_zones_config.max is 0"));
  EXPECT_THAT(refusal({.static_concurrency = 0}), HasSubstr("static_concurrency is 0"));
  EXPECT_THAT(refusal({.static_concurrency = 1001}), HasSubstr("between 1 and 1000"));
  EXPECT_THAT(refusal({.up_cooldown = 86401s}), HasSubstr("up_cooldown is 86401 s"));
  EXPECT_THAT(refusal({.down_cooldown = -1s}), HasSubstr("down_cooldown is -1 s"));
  EXPECT_THAT(refusal({.stale_after = 0s}), HasSubstr("stale_after is 0 s"));
  EXPECT_THAT(refusal({.stale_policy = static_cast<stale_policy>(7)}), HasSubstr("stale_policy"));
  EXPECT_EQ(refusal({.enabled = false, .max = 200}), "") << "the cap of 50 is for adaptive scaling";
  EXPECT_THAT(refusal({.enabled = false, .max = 1001}), HasSubstr("between 1 and 1000"));
}

// --- Demand --------------------------------------------------------------------------------------

TEST(HealthZones, DemandIsNotAskedForByDefault) {
  controller c({.max = 10});
  c.at(0s).poll({.score = 100, .demand = false});
  EXPECT_EQ(c.at(300s).poll({.score = 100, .demand = false}).limit, 7U);
}

TEST(HealthZones, WhereDemandIsRequiredOnlyDemandRaises) {
  controller c({.max = 10, .require_demand = true});
  c.at(0s).poll({.score = 100});
  const decision idle = c.at(300s).poll({.score = 100});
  EXPECT_EQ(idle.limit, 5U);
  EXPECT_EQ(idle.gate, move_gate::up);
  EXPECT_EQ(idle.next_move, std::nullopt) << "time alone does not open it";
  EXPECT_EQ(c.at(301s).poll({.score = 100, .demand = true}).limit, 7U);
  EXPECT_EQ(c.at(302s).poll({.score = 0, .demand = false}).limit, 1U);
}

// --- Purity --------------------------------------------------------------------------------------

TEST(HealthZones, AStepDependsOnItsArgumentsOnly) {
  const health_zones_config config{.max = 20};
  const auto before = weft::adapt::start(config, time_point{});
  const health_reading reading{.score = 90};
  const time_point now(400s);
  const auto once = step(before, config, reading, now);
  const auto again = step(before, config, reading, now);
  EXPECT_EQ(once.decision.limit, again.decision.limit);
  EXPECT_EQ(once.state.wants_more_since, again.state.wants_more_since);
  EXPECT_TRUE(noexcept(step(before, config, reading, now)));
}

TEST(HealthZones, MadeWithoutATimeItCountsFromItsFirstPoll) {
  health_zones policy({.min = 1, .max = 10});
  EXPECT_EQ(policy.poll({.score = 100, .age = 3s}, time_point(1000s)).next_move, 300s);
  EXPECT_EQ(policy.poll({.score = 100, .age = 3s}, time_point(1300s)).limit, 7U);
}

TEST(HealthZones, AdaptNamesAreThoseOfTheMetrics) {
  EXPECT_EQ(name(decision_reason::health_critical), "health_critical");
  EXPECT_EQ(name(decision_reason::circuit_open), "circuit_open");
  EXPECT_EQ(name(health_zone::safe), "safe");
  EXPECT_EQ(name(move_gate::hold), "hold");
  EXPECT_EQ(name(event_kind::breaker_opened), "breaker_opened");
}

// --- Claims --------------------------------------------------------------------------------------

// The limit is enforced by starting max(0, limit - running) jobs: a shrink lets what runs end.
TEST(HealthZones, FreeSlotsAreNeverNegativeWhileTheLimitShrinks) {
  controller c({.max = 10});
  c.raise_to(10);
  unsigned running = 10;
  std::vector<unsigned> started;
  for (int second = 0; second < 12; ++second) {
    const unsigned limit = c.later(1s).score(0).limit;
    const unsigned free = limit > running ? limit - running : 0;
    started.push_back(free);
    running = running + free - 1;
  }
  EXPECT_THAT(started, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1));
}

}  // namespace
