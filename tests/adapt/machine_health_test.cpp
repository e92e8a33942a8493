#include <weft/adapt/machine_health.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <support/property.hpp>
#include "adapt/fake_machine.hpp"
#include "base/text.hpp"

namespace weft::adapt {
namespace {

using namespace std::chrono_literals;
using test::fake_machine;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

// A fake machine and a clock that is stepped a second at a time. The first reading only takes the
// counters.
class MachineHealth : public ::testing::Test {
 protected:
  health_report read() { return health_.read(now_ += 1s); }
  std::string problem_with(const external_signal& signal) {
    try {
      health_.push(signal, now_);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  }

  fake_machine machine_;
  machine_health health_{{.root = machine_.root(), .affinity = test::allow_four_cpus}};
  time_point now_{};
};

auto missing(std::string_view signal) {
  return Contains(Field(&missing_signal::signal, std::string(signal)));
}

// --- Layouts -----------------------------------------------------------------------------------

TEST_F(MachineHealth, BareMetalIsLimitedByTheMemoryOfTheMachine) {
  machine_.make_bare_metal();
  const auto report = read();
  EXPECT_EQ(*report.score, 78);  // half of the memory is used: 1 - .34 * .5 / .8
  EXPECT_EQ(report.limiting, health_signal::memory_used);
  EXPECT_THAT(report.missing, missing(health_signal::cpu_throttled));
  EXPECT_THAT(report.missing, missing(health_signal::disk_used));
}

TEST_F(MachineHealth, DockerV2IsLimitedByItsOwnMemory) {
  machine_.make_docker_v2();
  machine_.write_group_v2("sys/fs/cgroup", {.current = 92, .max = "100"});
  const auto report = read();
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(report.limiting, health_signal::memory_used);
}

TEST_F(MachineHealth, DockerV2IsLimitedByItsOwnPressureAndThrottling) {
  machine_.make_docker_v2();
  read();
  machine_.write_pressure("sys/fs/cgroup/cpu.pressure", "50.00", "10.00");
  machine_.write("sys/fs/cgroup/cpu.stat", fake_machine::cpu_stat_v2(1'000'000, 100, 60));
  const auto report = read();
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(report.limiting, health_signal::cpu_throttled);
}

TEST_F(MachineHealth, DockerV2NoticesAKill) {
  machine_.make_docker_v2();
  read();
  machine_.write("sys/fs/cgroup/memory.events", "oom 1\noom_kill 1\n");
  EXPECT_EQ(read().limiting, health_signal::oom_kill);
}

TEST_F(MachineHealth, KubernetesV1ReadsV1NamesAndThePressureOfTheMachine) {
  machine_.make_kubernetes_v1();
  read();
  machine_.write_pressure("proc/pressure/io", "100.00", "70.00");
  const auto report = read();
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(report.limiting, health_signal::io_pressure);
  EXPECT_EQ(report.missing.size(), 1U);  // the disk that was not named
}

TEST_F(MachineHealth, HybridReadsLimitsInV1AndPressureInV2) {
  machine_.make_hybrid();
  machine_.write_pressure("sys/fs/cgroup/unified/app/memory.pressure", "30.00", "20.00");
  const auto report = read();
  EXPECT_EQ(*report.score, 33);
  EXPECT_EQ(report.limiting, health_signal::memory_pressure);
}

TEST_F(MachineHealth, NestedLimitsCountAtEveryLevel) {
  machine_.make_nested_v2();
  machine_.write_group_v2("sys/fs/cgroup/a", {.current = 98, .max = "100"});
  machine_.write_group_v2("sys/fs/cgroup/a/b/c", {.current = 1, .max = "100"});
  EXPECT_EQ(*read().score, 0);
}

TEST_F(MachineHealth, WithoutPressureTheLoadAverageStandsIn) {
  machine_.make_bare_metal();
  machine_.remove("proc/pressure");
  machine_.write("proc/loadavg", "6.00 5.00 4.00 1/100 4242\n");
  const auto report = read();
  EXPECT_EQ(*report.score, 33);  // 3 for each of the two CPUs
  EXPECT_EQ(report.limiting, health_signal::load_average);
}

TEST_F(MachineHealth, ADiskIsWatchedWhenItIsNamed) {
  machine_.make_bare_metal();
  machine_health health({.root = machine_.root(), .disk_path = machine_.root()});
  const auto report = health.read(now_);
  EXPECT_THAT(report.components,
              Contains(Field(&health_component::signal, std::string(health_signal::disk_used))));
}

TEST_F(MachineHealth, AnEmptyMachineHasNoScoreButReasons) {
  const auto report = read();
  EXPECT_FALSE(report.score);
  EXPECT_TRUE(report.components.empty());
  EXPECT_EQ(report.missing.size(), 9U);
  for (const auto& absent : report.missing) EXPECT_NE(absent.reason, "") << absent.signal;
}

// --- Files that vanish, and nonsense -----------------------------------------------------------

TEST_F(MachineHealth, EveryFileMayVanishBetweenTwoReadings) {
  for (void (fake_machine::* const layout)() const :
       {&fake_machine::make_docker_v2, &fake_machine::make_kubernetes_v1,
        &fake_machine::make_hybrid}) {
    const fake_machine machine;
    (machine.*layout)();
    for (const std::string& file : machine.files()) {
      machine_health health({.root = machine.root(), .affinity = test::allow_four_cpus});
      ASSERT_TRUE(health.read(now_ += 1s).score) << file;
      const std::string text = machine.content(file);
      machine.remove(file);
      const auto report = health.read(now_ += 1s);
      EXPECT_TRUE(report.score) << file << ": " << report.score.reason();
      machine.write(file, text);
    }
  }
}

TEST_F(MachineHealth, WhateverTheFilesSayThereIsAScoreInRangeOrAReason) {
  using strings = std::vector<std::string>;
  machine_.make_docker_v2();
  const strings files = machine_.files();
  strings pieces{" ", "\n", std::string(1, '\0'), "\xff"};
  for (const std::string_view piece : base::words(
           "cpu some full avg10= avg60= total= MemTotal: MemAvailable: kB max -1 0 1 100 1e5 nan "
           "inf "
           "99999999999999999999 18446744073709551615 usage_usec nr_periods nr_throttled oom_kill "
           "0::/ /.. : - cgroup2 \\040")) {
    pieces.emplace_back(piece);
  }
  EXPECT_TRUE(test::holds("any text", [&] {
    machine_.make_docker_v2();
    machine_health health({.root = machine_.root(), .affinity = test::allow_four_cpus});
    for (int round = 0; round < 3; ++round) {
      for (const auto& file : *rc::gen::container<strings>(3, rc::gen::elementOf(files))) {
        std::string text;
        for (const auto& piece : *rc::gen::container<strings>(rc::gen::elementOf(pieces))) {
          text += piece;
        }
        machine_.write(file, text);
      }
      const auto report = health.read(now_ += 1s);
      const bool in_range = report.score && *report.score >= 0 && *report.score <= 100;
      RC_ASSERT(in_range || !report.score.reason().empty());
      for (const auto& part : report.components) {
        RC_ASSERT(part.health >= 0 && part.health <= 1);
      }
    }
  }));
}

// --- External scores ---------------------------------------------------------------------------

TEST_F(MachineHealth, PushedScoresAreCombinedByTheLeast) {
  machine_.make_bare_metal();
  health_.push({.name = "store", .score = 20}, now_);
  health_.push({.name = "upstream", .score = 90}, now_);
  const auto report = read();
  EXPECT_EQ(*report.score, 20);
  EXPECT_EQ(report.limiting, "store");
}

TEST_F(MachineHealth, ALoadIsPushedByItsScale) {
  machine_.make_bare_metal();
  constexpr load_scale commit_slowdown{.warning = 4, .critical = 10, .zero = 30};
  health_.push({.name = "store_commit", .score = 100 * health_of_load(10, commit_slowdown)}, now_);
  EXPECT_EQ(*read().score, 33);
}

TEST_F(MachineHealth, ANewScoreTakesThePlaceOfTheLastOneOfItsName) {
  machine_.make_bare_metal();
  health_.push({.name = "store", .score = 90}, now_);
  health_.push({.name = "store", .score = 10}, now_);
  EXPECT_EQ(*read().score, 10);
}

TEST_F(MachineHealth, SilenceSaysNothing) {
  machine_.make_bare_metal();
  health_.push({.name = "store", .score = 10, .valid_for = 500ms}, now_);
  const auto report = read();
  EXPECT_EQ(report.limiting, health_signal::memory_used);
  EXPECT_THAT(report.missing, missing("store"));
}

TEST_F(MachineHealth, AWithdrawnScoreIsGone) {
  machine_.make_bare_metal();
  health_.push({.name = "store", .score = 10}, now_);
  health_.withdraw("store");
  health_.withdraw("never pushed");
  const auto report = read();
  EXPECT_EQ(report.limiting, health_signal::memory_used);
  EXPECT_THAT(report.missing, Not(missing("store")));
}

TEST_F(MachineHealth, ScoresThatMakeNoSenseAreRefusedByField) {
  EXPECT_THAT(problem_with({.name = ""}), HasSubstr("external_signal.name"));
  EXPECT_THAT(problem_with({.name = "memory_used"}), HasSubstr("external_signal.name"));
  EXPECT_EQ(problem_with({.name = "x", .score = -1}),
            "external_signal.score is -1, and must be between 0 and 100");
  EXPECT_THAT(problem_with({.name = "x", .score = 100.5}), HasSubstr("score is 100.5"));
  EXPECT_THAT(problem_with({.name = "x", .score = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("score is nan"));
  EXPECT_EQ(problem_with({.name = "x", .valid_for = 0ms}),
            "external_signal.valid_for is 0 ms, and must be between 1 and 31536000000 ms");
  EXPECT_THAT(problem_with({.name = "x", .valid_for = std::chrono::milliseconds::max()}),
              HasSubstr("valid_for is 9223372036854775807 ms"));
}

TEST_F(MachineHealth, ASignalThatIsValidForAYearCountsForAYear) {
  machine_.make_bare_metal();
  health_.push({.name = "store", .score = 5, .valid_for = std::chrono::hours(24 * 365)}, now_);
  now_ += std::chrono::hours(24 * 364);
  EXPECT_EQ(*health_.read(now_).score, 5);
}

TEST_F(MachineHealth, ThereIsRoomForSoManyNames) {
  for (std::size_t i = 0; i < machine_health::most_external_signals; ++i) {
    health_.push({.name = "signal " + std::to_string(i)}, now_);
  }
  EXPECT_THAT(problem_with({.name = "one more"}), HasSubstr("64"));
  EXPECT_EQ(problem_with({.name = "signal 3"}), "none");
}

TEST_F(MachineHealth, SettingsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(machine_health({.config = {.rise_half_life = 0ms}}), std::invalid_argument);
}

// --- The running system ------------------------------------------------------------------------

TEST(MachineHealthLive, ThisMachineHasAScoreOrAReason) {
  machine_health health({.disk_path = "/"});
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(health.read(start));
  const auto report = health.read(start + 1s);
  ASSERT_TRUE(report.score) << report.score.reason();
  EXPECT_GE(*report.score, 0);
  EXPECT_LE(*report.score, 100);
  EXPECT_NE(report.limiting, "");
  EXPECT_THAT(report.components,
              Contains(Field(&health_component::signal, std::string(health_signal::memory_used))));
  std::cout << "score " << *report.score << ", limited by " << report.limiting << '\n';
  for (const auto& part : report.components) {
    std::cout << "  " << part.signal << " load " << part.load << " health " << part.health << " ("
              << part.detail << ")\n";
  }
  for (const auto& absent : report.missing) {
    std::cout << "  " << absent.signal << ": " << absent.reason << '\n';
  }
}

}  // namespace
}  // namespace weft::adapt
