#include <weft/adapt/health.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/property.hpp>

namespace weft::adapt {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

resource_pressure pressure(double some, double full) {
  return {.some = stall{some, some, 0us}, .full = stall{full, full, 0us}, .source = "here"};
}

memory_use memory_of(double share) {
  return {.used = static_cast<std::uint64_t>(std::llround(share * 1e6)),
          .limit = 1'000'000,
          .where = "the machine"};
}

// A machine that does nothing and tells everything.
health_readings idle_machine() {
  health_readings readings;
  readings.memory.machine = memory_of(0);
  readings.memory.oom_kills = std::uint64_t{0};
  readings.pressure = {pressure(0, 0), pressure(0, 0), pressure(0, 0)};
  readings.cpu.utilisation = 0.0;
  readings.cpu.load_per_cpu = 0.0;
  readings.cpu.throttled = group_share{0, "group"};
  readings.disk = disk_space{.free = std::uint64_t{1} << 40, .size = std::uint64_t{1} << 40};
  return readings;
}

// A score of its own, without a past.
health_report score_of(const health_readings& readings) {
  return step({}, {}, readings, time_point{}).report;
}

const health_component& component(const health_report& report, std::string_view signal) {
  for (const health_component& found : report.components) {
    if (found.signal == signal) return found;
  }
  throw std::out_of_range(std::string(signal));
}

auto missing(std::string_view signal) {
  return Contains(Field(&missing_signal::signal, std::string(signal)));
}

// --- Loads -------------------------------------------------------------------------------------

constexpr load_scale scale{.warning = .80, .critical = .92, .zero = .98};

TEST(HealthOfLoad, GoesThroughItsPoints) {
  EXPECT_DOUBLE_EQ(health_of_load(0, scale), 1.0);
  EXPECT_NEAR(health_of_load(.40, scale), .83, 1e-12);
  EXPECT_DOUBLE_EQ(health_of_load(.80, scale), .66);
  EXPECT_NEAR(health_of_load(.86, scale), .495, 1e-12);
  EXPECT_DOUBLE_EQ(health_of_load(.92, scale), .33);
  EXPECT_NEAR(health_of_load(.95, scale), .165, 1e-12);
  EXPECT_DOUBLE_EQ(health_of_load(.98, scale), 0.0);
  EXPECT_DOUBLE_EQ(health_of_load(7, scale), 0.0);
}

TEST(HealthOfLoad, LoadBelowZeroIsNoLoadAndNonsenseIsTheWorst) {
  EXPECT_DOUBLE_EQ(health_of_load(-1, scale), 1.0);
  EXPECT_DOUBLE_EQ(health_of_load(std::numeric_limits<double>::quiet_NaN(), scale), 0.0);
}

TEST(HealthOfLoad, StaysAboveItsFloor) {
  EXPECT_DOUBLE_EQ(health_of_load(9, {.warning = 1, .critical = 2, .zero = 3, .floor = .2}), .2);
}

TEST(HealthOfLoad, NeverRisesWithTheLoadAndStaysWithinBounds) {
  EXPECT_TRUE(test::holds("monotone", [](double a, double b, double w, double c, double z) {
    const double warning = std::fabs(w) + 1e-6;
    const load_scale any{.warning = warning,
                         .critical = warning + std::fabs(c) + 1e-6,
                         .zero = warning + std::fabs(c) + std::fabs(z) + 2e-6};
    const double less = health_of_load(std::min(a, b), any);
    const double more = health_of_load(std::max(a, b), any);
    RC_ASSERT(more <= less + 1e-9);
    RC_ASSERT(more >= 0 && less <= 1);
  }));
}

// --- Signals one by one, at the edges of their zones ---------------------------------------------

struct signal_case {
  const char* name;
  void (*apply)(health_readings&, double load);
  double warning;
  double critical;
  int at_critical;
};

void PrintTo(const signal_case& which, std::ostream* out) { *out << which.name; }

class Signal : public ::testing::TestWithParam<signal_case> {
 protected:
  static health_report report_at(double load) {
    health_readings readings = idle_machine();
    GetParam().apply(readings, load);
    return score_of(readings);
  }
};

TEST_P(Signal, ScoresByItsScaleAndIsNamedAsTheLimit) {
  EXPECT_EQ(*report_at(0).score, 100);
  const auto warning = report_at(GetParam().warning);
  EXPECT_EQ(*warning.score, 66);
  EXPECT_EQ(warning.limiting, GetParam().name);
  const auto critical = report_at(GetParam().critical);
  EXPECT_EQ(*critical.score, GetParam().at_critical);
  EXPECT_EQ(critical.limiting, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Signal,
    ::testing::Values(
        signal_case{"memory_used",
                    [](health_readings& r, double load) { r.memory.machine = memory_of(load); },
                    .80, .92, 33},
        signal_case{"memory_pressure",
                    [](health_readings& r, double load) { r.pressure.memory = pressure(1, load); },
                    .05, .20, 33},
        signal_case{"cpu_pressure",
                    [](health_readings& r, double load) { r.pressure.cpu = pressure(load, 0); },
                    .40, .85, 33},
        signal_case{"load_average",
                    [](health_readings& r, double load) {
                      r.pressure.cpu = {};
                      r.cpu.load_per_cpu = load;
                    },
                    1.5, 3, 33},
        // Without pressure to confirm it, throttling ends just above the critical zone.
        signal_case{
            "cpu_throttled",
            [](health_readings& r, double load) { r.cpu.throttled = group_share{load, "group"}; },
            .25, .60, 34},
        signal_case{"cpu_used", [](health_readings& r, double load) { r.cpu.utilisation = load; },
                    .95, 1.0, 40},
        signal_case{"io_pressure",
                    [](health_readings& r, double load) { r.pressure.io = pressure(1, load); }, .30,
                    .70, 33},
        signal_case{"disk_used",
                    [](health_readings& r, double load) {
                      const auto size = std::uint64_t{1} << 40;
                      r.disk = disk_space{.free = static_cast<std::uint64_t>(
                                              std::llround((1 - load) * static_cast<double>(size))),
                                          .size = size};
                    },
                    .90, .97, 33}),
    [](const auto& which) { return which.param.name; });

TEST(Health, TheLeastHealthDecides) {
  health_readings readings = idle_machine();
  readings.memory.machine = memory_of(.80);
  readings.pressure.io = pressure(0, .70);
  const auto report = score_of(readings);
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(report.limiting, health_signal::io_pressure);
  EXPECT_DOUBLE_EQ(component(report, health_signal::memory_used).health, .66);
}

TEST(Health, MemoryOfTheFullerOfMachineAndGroupCounts) {
  health_readings readings = idle_machine();
  readings.memory.machine = memory_of(.10);
  readings.memory.group = memory_use{.used = 92, .limit = 100, .where = "/group"};
  const auto report = score_of(readings);
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(component(report, health_signal::memory_used).detail, "/group");
}

TEST(Health, PressureOfTheWorseOfMachineAndGroupCounts) {
  for (const bool in_group : {true, false}) {
    health_readings readings = idle_machine();
    readings.pressure.machine_cpu = readings.pressure.machine_memory =
        readings.pressure.machine_io = pressure(0, 0);
    const auto limiting = [&](resource_pressure& own, resource_pressure& machine) {
      resource_pressure& busy = in_group ? own : machine;
      const resource_pressure calm = std::exchange(busy, pressure(.9, .9));
      const health_report report = score_of(readings);
      EXPECT_LE(*report.score, 33);
      busy = calm;
      return report.limiting;
    };
    auto& p = readings.pressure;
    EXPECT_EQ(limiting(p.cpu, p.machine_cpu), health_signal::cpu_pressure);
    EXPECT_EQ(limiting(p.memory, p.machine_memory), health_signal::memory_pressure);
    EXPECT_EQ(limiting(p.io, p.machine_io), health_signal::io_pressure);
  }
}

TEST(Health, UnderAQuotaItsUseCountsInsteadOfTheMachines) {
  health_readings readings = idle_machine();
  readings.cpu.utilisation = 1.0;
  readings.cpu.quota_use = group_share{0, "group"};
  EXPECT_EQ(*score_of(readings).score, 100);
}

TEST(Health, DiskNeedsRoomInBytesToo) {
  const auto score_with_free = [](std::uint64_t mib) {
    health_readings readings = idle_machine();
    // So small that the share of the size never warns.
    readings.disk = disk_space{.free = mib << 20, .size = std::uint64_t{4} << 30};
    return *score_of(readings).score;
  };
  EXPECT_EQ(score_with_free(4096), 100);
  EXPECT_EQ(score_with_free(1024), 66);
  EXPECT_EQ(score_with_free(256), 33);
  EXPECT_EQ(score_with_free(64), 0);
  EXPECT_EQ(score_with_free(0), 0);
}

TEST(Health, ADiskSmallerThanTheRoomWantedIsScoredWithoutNonsense) {
  health_readings readings = idle_machine();
  readings.disk = disk_space{.free = std::uint64_t{512} << 20, .size = std::uint64_t{512} << 20};
  EXPECT_EQ(*score_of(readings).score, 44);  // a third of the way from 256 MiB to 1 GiB
}

// --- CPU ---------------------------------------------------------------------------------------

TEST(Health, ABurstOfCpuPressureIsNotCritical) {
  health_readings readings = idle_machine();
  readings.pressure.cpu.some = stall{1.0, .20, 0us};
  EXPECT_EQ(*score_of(readings).score, 34);
  readings.pressure.cpu.some = stall{1.0, .85, 0us};
  EXPECT_EQ(*score_of(readings).score, 33);
  readings.pressure.cpu.some = stall{.20, 1.0, 0us};
  EXPECT_GT(*score_of(readings).score, 66);
}

// Scores are rounded down: a health of .339 would be critical too.
TEST(Health, NothingBelow34PassesForABurstOrForThrottlingThatNobodyFelt) {
  for (int load = 0; load <= 1000; ++load) {
    health_readings readings = idle_machine();
    readings.pressure.cpu.some = stall{load / 1000.0, 0, 0us};
    EXPECT_GE(*score_of(readings).score, 34) << "a burst of " << load / 1000.0;
    readings = idle_machine();
    readings.cpu.throttled = group_share{load / 1000.0, "group"};
    EXPECT_GE(*score_of(readings).score, 34) << "throttled for " << load / 1000.0;
  }
}

TEST(Health, CpuPressureAloneNeverFallsBelowItsFloor) {
  health_readings readings = idle_machine();
  readings.pressure.cpu = pressure(1, 1);
  EXPECT_EQ(*score_of(readings).score, 20);
}

TEST(Health, ThrottlingIsCriticalOnlyIfTasksAreSeenToWait) {
  health_readings readings = idle_machine();
  readings.cpu.throttled = group_share{.95, "group"};
  const auto unconfirmed = score_of(readings);
  EXPECT_EQ(*unconfirmed.score, 34);
  EXPECT_THAT(component(unconfirmed, health_signal::cpu_throttled).detail,
              HasSubstr("not confirmed"));
  readings.pressure.cpu = pressure(.40, 0);
  EXPECT_EQ(*score_of(readings).score, 0);
  readings.pressure.cpu = {};
  EXPECT_EQ(*score_of(readings).score, 34);
  readings.cpu.load_per_cpu = 1.5;
  EXPECT_EQ(*score_of(readings).score, 0);
}

TEST(Health, LoadAverageIsUsedOnlyWithoutPressure) {
  health_readings readings = idle_machine();
  readings.cpu.load_per_cpu = 50.0;
  EXPECT_EQ(*score_of(readings).score, 100);
  readings.pressure.cpu.some = unavailable{"no pressure"};
  const auto report = score_of(readings);
  EXPECT_EQ(*report.score, 20);
  EXPECT_THAT(report.missing, missing(health_signal::cpu_pressure));
}

// --- What is missing ---------------------------------------------------------------------------

TEST(Health, WhatIsMissingIsLeftOutWithItsReason) {
  health_readings readings = idle_machine();
  readings.pressure.io.full = unavailable{"why not"};
  const auto report = score_of(readings);
  EXPECT_EQ(*report.score, 100);
  ASSERT_THAT(report.missing, missing(health_signal::io_pressure));
  EXPECT_THAT(report.missing, Contains(Field(&missing_signal::reason, "why not")));
}

TEST(Health, EverySignalIsEitherAComponentOrMissing) {
  for (const health_readings& readings : {health_readings{}, idle_machine()}) {
    const auto report = score_of(readings);
    std::vector<std::string> names;
    for (const auto& found : report.components) names.push_back(found.signal);
    for (const auto& absent : report.missing) names.push_back(absent.signal);
    for (const std::string_view signal :
         {health_signal::memory_used, health_signal::memory_pressure, health_signal::oom_kill,
          health_signal::cpu_pressure, health_signal::cpu_throttled, health_signal::cpu_used,
          health_signal::io_pressure, health_signal::disk_used}) {
      EXPECT_EQ(std::count(names.begin(), names.end(), signal), 1) << signal;
    }
  }
}

TEST(Health, MemoryAndOneOtherSignalAreEnough) {
  health_readings readings;
  readings.memory.machine = memory_of(.40);
  readings.cpu.utilisation = 0.0;
  EXPECT_EQ(*score_of(readings).score, 83);
}

TEST(Health, MemoryAloneIsNoScore) {
  health_readings readings;
  readings.memory.machine = memory_of(.40);
  readings.memory.oom_kills = std::uint64_t{0};
  readings.external.push_back({{.name = "store", .score = 50}, time_point{}});
  const auto report = score_of(readings);
  EXPECT_THAT(report.score.reason(), HasSubstr("at least one other"));
  EXPECT_EQ(report.limiting, "");
  EXPECT_EQ(component(report, "store").health, .5);  // shown all the same
}

TEST(Health, EverythingButMemoryIsNoScore) {
  health_readings readings = idle_machine();
  readings.memory = {};
  EXPECT_THAT(score_of(readings).score.reason(), HasSubstr("memory"));
}

// --- Time --------------------------------------------------------------------------------------

// Steps through time with one state.
class HealthOverTime : public ::testing::Test {
 protected:
  health_report after(std::chrono::milliseconds elapsed) {
    now_ += elapsed;
    health_step next = step(state_, config_, readings_, now_);
    state_ = next.state;
    return next.report;
  }
  void use_memory(double share) { readings_.memory.machine = memory_of(share); }

  health_readings readings_ = idle_machine();
  health_config config_;
  health_state state_;
  time_point now_{1h};
};

TEST_F(HealthOverTime, FallsAtOnce) {
  EXPECT_EQ(*after(0s).score, 100);
  use_memory(.98);
  EXPECT_EQ(*after(1ms).score, 0);
}

TEST_F(HealthOverTime, RisesByHalfOfTheGapInTenSeconds) {
  use_memory(.98);
  after(0s);
  use_memory(0);
  EXPECT_EQ(*after(10s).score, 50);
  EXPECT_EQ(*after(10s).score, 75);
  EXPECT_EQ(*after(10s).score, 87);
}

TEST_F(HealthOverTime, ManySmallStepsRiseLikeOneLargeStep) {
  use_memory(.98);
  after(0s);
  use_memory(0);
  health_report report;
  for (int i = 0; i < 1000; ++i) report = after(10ms);
  EXPECT_NEAR(*report.score, 50, 1);
}

TEST_F(HealthOverTime, ReachesTheTopInTheEnd) {
  use_memory(.98);
  after(0s);
  use_memory(0);
  for (int i = 0; i < 75; ++i) after(1s);
  EXPECT_LT(*after(1s).score, 100);
  EXPECT_EQ(*after(1s).score, 100);
}

TEST_F(HealthOverTime, WhileItRecoversWhatPulledItDownIsNamed) {
  use_memory(.98);
  EXPECT_FALSE(after(0s).recovering);
  use_memory(0);
  readings_.pressure.io = pressure(0, .10);
  const auto report = after(10s);
  EXPECT_TRUE(report.recovering);
  EXPECT_EQ(report.limiting, health_signal::memory_used);
  const auto recovered = after(10min);
  EXPECT_FALSE(recovered.recovering);
  EXPECT_EQ(recovered.limiting, health_signal::io_pressure);
}

TEST_F(HealthOverTime, AFallDuringRecoveryIsNamedToo) {
  use_memory(.98);
  after(0s);
  use_memory(0);
  after(10s);
  readings_.pressure.io = pressure(0, .70);
  const auto report = after(1s);
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(report.limiting, health_signal::io_pressure);
  EXPECT_FALSE(report.recovering);
}

TEST_F(HealthOverTime, AClockThatGoesBackDoesNotRaise) {
  use_memory(.98);
  after(0s);
  use_memory(0);
  EXPECT_EQ(*after(-5s).score, 0);
}

TEST_F(HealthOverTime, TimeWithoutAScoreIsNoTimeToRecoverIn) {
  use_memory(.98);
  after(0s);
  readings_.memory.machine = unavailable{"gone"};
  EXPECT_FALSE(after(1h).score);
  use_memory(0);
  EXPECT_EQ(*after(10s).score, 50);
}

TEST_F(HealthOverTime, AKillForWantOfMemoryIsCriticalForAMinute) {
  readings_.memory.oom_kills = std::uint64_t{7};
  EXPECT_EQ(*after(0s).score, 100);  // those before us are not ours
  readings_.memory.oom_kills = std::uint64_t{8};
  const auto killed = after(1s);
  EXPECT_EQ(*killed.score, 33);
  EXPECT_EQ(killed.limiting, health_signal::oom_kill);
  EXPECT_EQ(*after(59s).score, 33);
  EXPECT_GT(*after(1s).score, 33);
}

TEST_F(HealthOverTime, AnotherKillStartsTheMinuteAnew) {
  after(0s);
  readings_.memory.oom_kills = std::uint64_t{1};
  after(1s);
  readings_.memory.oom_kills = std::uint64_t{2};
  after(50s);
  EXPECT_EQ(*after(59s).score, 33);
}

TEST_F(HealthOverTime, ACountOfKillsThatVanishesForAWhileIsComparedWhenItIsBack) {
  after(0s);
  readings_.memory.oom_kills = unavailable{"gone"};
  EXPECT_THAT(after(1s).missing, missing(health_signal::oom_kill));
  readings_.memory.oom_kills = std::uint64_t{1};
  EXPECT_EQ(*after(1s).score, 33);
}

TEST_F(HealthOverTime, ExternalScoresCountWhileTheyAreValid) {
  readings_.external.push_back({{.name = "store", .score = 29, .valid_for = 5s}, now_});
  const auto report = after(5s);
  EXPECT_EQ(*report.score, 29);
  EXPECT_EQ(report.limiting, "store");
  const auto later = after(1ms);
  EXPECT_THAT(later.missing, missing("store"));
  EXPECT_EQ(later.limiting, "store");  // the score still recovers from it
  EXPECT_TRUE(later.recovering);
}

TEST_F(HealthOverTime, NeverRisesFasterThanTheHalfLifeNorAboveItsSignals) {
  EXPECT_TRUE(test::holds("smoothing", [](std::vector<std::uint8_t> shares) {
    health_readings readings = idle_machine();
    health_state state;
    time_point now{};
    for (const std::uint8_t share : shares) {
      readings.memory.machine = memory_of(share / 255.0);
      const auto before = state.score;
      const auto next = step(state, {}, readings, now += 1s);
      state = next.state;
      double least = 1;
      for (const auto& part : next.report.components) least = std::min(least, part.health);
      RC_ASSERT(*next.report.score <= 100 * least + 1e-6);
      if (before && 100 * least < *before) RC_ASSERT(std::fabs(*state.score - 100 * least) < 1e-9);
      if (before && *state.score > *before) {
        const double most = *before + (100 - *before) * (1 - std::exp2(-0.1)) + .5;
        RC_ASSERT(*state.score <= most + 1e-9);
      }
      RC_ASSERT(!next.report.limiting.empty());
    }
  }));
}

TEST(Health, LeavingOutASignalNeverLowersTheScore) {
  EXPECT_TRUE(test::holds("absent is not bad", [](double a, double b) {
    const auto share = [](double any) { return any - std::floor(any); };
    health_readings readings = idle_machine();
    readings.pressure.io = pressure(0, share(a));
    readings.pressure.memory = pressure(0, share(b));
    const int all = *score_of(readings).score;
    readings.pressure.io.full = unavailable{"gone"};
    RC_ASSERT(*score_of(readings).score >= all);
  }));
}

// Loads between 0 and 1, all the more so around the edges of the zones.
struct loads {
  double memory, burst, lasting, throttled, used, io;
};

health_readings machine_with(const loads& l) {
  health_readings readings = idle_machine();
  readings.memory.machine = memory_of(l.memory);
  readings.pressure.cpu.some = stall{l.burst, l.lasting, 0us};
  readings.cpu.throttled = group_share{l.throttled, "group"};
  readings.cpu.utilisation = l.used;
  readings.pressure.io = pressure(0, l.io);
  return readings;
}

TEST(Health, MoreLoadNeverRaisesTheScore) {
  EXPECT_TRUE(test::holds("monotone", [] {
    const auto load = [] { return *rc::gen::inRange(0, 1001) / 1000.0; };
    const loads less{load(), load(), load(), load(), load(), load()};
    loads more = less;
    double* const fields[] = {&more.memory,    &more.burst, &more.lasting,
                              &more.throttled, &more.used,  &more.io};
    for (double* const field : fields) {
      if (*rc::gen::arbitrary<bool>()) *field = std::max(*field, load());
    }
    RC_ASSERT(*score_of(machine_with(more)).score <= *score_of(machine_with(less)).score);
  }));
}

// --- Settings ----------------------------------------------------------------------------------

std::string problem_of(const health_config& config) {
  try {
    validate(config);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(HealthConfig, DefaultsAreValid) { EXPECT_EQ(problem_of({}), "none"); }

TEST(HealthConfig, ScalesOutOfOrderAreRefusedByName) {
  EXPECT_EQ(problem_of({.memory_used = {.warning = .9, .critical = .8, .zero = 1}}),
            "health_config.memory_used must have 0 < warning < critical < zero, all finite");
  EXPECT_THAT(problem_of({.io_pressure = {.warning = 0, .critical = .8, .zero = 1}}),
              HasSubstr("io_pressure"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(problem_of({.cpu_used = {.warning = nan, .critical = .8, .zero = 1}}),
              HasSubstr("cpu_used"));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(problem_of({.cpu_throttled = {.warning = .1, .critical = .8, .zero = infinity}}),
              HasSubstr("cpu_throttled"));
  EXPECT_THAT(
      problem_of({.cpu_pressure = {.warning = .1, .critical = .8, .zero = 1, .floor = 1.5}}),
      HasSubstr("cpu_pressure.floor is 1.5, and must be between 0 and 1"));
}

TEST(HealthConfig, DiskAndTimesOutOfOrderAreRefusedByName) {
  EXPECT_THAT(problem_of({.disk_free_warning = 10}), HasSubstr("disk_free_critical must be less"));
  EXPECT_THAT(problem_of({.disk_free_zero = std::uint64_t{1} << 30}),
              HasSubstr("disk_free_zero must be less"));
  EXPECT_THAT(problem_of({.rise_half_life = 0ms}), HasSubstr("rise_half_life is 0 ms"));
  EXPECT_THAT(problem_of({.oom_kill_hold = -1ms}), HasSubstr("oom_kill_hold is -1 ms"));
  EXPECT_EQ(problem_of({.oom_kill_hold = std::chrono::milliseconds::max()}),
            "health_config.oom_kill_hold is 9223372036854775807 ms, and must be between 0 and "
            "31536000000 ms");
}

}  // namespace
}  // namespace weft::adapt
