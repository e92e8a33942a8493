#include <weft/adapt/sensor/cpu.hpp>

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapt/fake_machine.hpp"

namespace weft::adapt {
namespace {

using namespace std::chrono_literals;
using test::fake_machine;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Steps a clock of its own, a second at a time.
class CpuSensor : public ::testing::Test {
 protected:
  cpu_reading read() { return sensor_.read(now_ += 1s); }
  void write_ticks(const std::string& columns) {
    machine_.write("proc/stat", "cpu  " + columns + "\ncpu0 1 2 3 4\n");
  }
  void write_stat_v2(const std::string& group, unsigned long used_us, unsigned long periods,
                     unsigned long throttled) {
    machine_.write(group + "/cpu.stat", fake_machine::cpu_stat_v2(used_us, periods, throttled));
  }

  fake_machine machine_;
  cpu_sensor sensor_{{.root = machine_.root(), .affinity = test::allow_four_cpus}};
  time_point now_{};
};

const std::string v2 = "sys/fs/cgroup";

// --- Usable CPUs -------------------------------------------------------------------------------

TEST_F(CpuSensor, AffinityDecidesWithoutAQuota) {
  machine_.make_bare_metal();
  const auto reading = read();
  EXPECT_EQ(reading.usable, 4U);
  EXPECT_THAT(reading.quota.reason(), HasSubstr("no CPU quota"));
}

TEST_F(CpuSensor, QuotaIsToldExactlyAndTheUsableCpusRoundedUp) {
  machine_.make_docker_v2();
  const auto reading = read();
  EXPECT_DOUBLE_EQ(*reading.quota, 1.5);
  EXPECT_EQ(reading.usable, 2U);
}

TEST_F(CpuSensor, AQuotaThatChangesIsSeenByTheNextReading) {
  machine_.make_docker_v2();
  EXPECT_EQ(read().usable, 2U);
  machine_.write(v2 + "/cpu.max", "300000 100000\n");
  EXPECT_EQ(read().usable, 3U);
  machine_.write(v2 + "/cpu.max", "max 100000\n");
  EXPECT_EQ(read().usable, 4U);
}

// --- Utilisation of the machine ----------------------------------------------------------------

TEST_F(CpuSensor, FirstReadingHasNoUtilisation) {
  machine_.make_bare_metal();
  EXPECT_EQ(read().utilisation.reason(), "needs a second reading");
}

TEST_F(CpuSensor, UtilisationIsWhatWasBusySinceTheLastReading) {
  machine_.make_bare_metal();
  machine_.write_ticks(1000, 1000);
  read();
  machine_.write_ticks(1030, 1010);
  EXPECT_DOUBLE_EQ(*read().utilisation, 0.75);
  machine_.write_ticks(1030, 1050);
  EXPECT_DOUBLE_EQ(*read().utilisation, 0.0);
}

TEST_F(CpuSensor, WaitingForInputIsIdleAndStolenTimeIsBusy) {
  write_ticks("0 0 0 0 0 0 0 0 0 0");
  read();
  // user nice system idle iowait irq softirq steal guest guest_nice
  write_ticks("10 1 2 20 30 3 4 30 5 6");
  EXPECT_DOUBLE_EQ(*read().utilisation, 0.5);
}

TEST_F(CpuSensor, OldKernelsWithFourColumnsAreUnderstood) {
  write_ticks("0 0 0 0");
  read();
  write_ticks("5 0 5 30");
  EXPECT_DOUBLE_EQ(*read().utilisation, 0.25);
}

TEST_F(CpuSensor, CountersThatGoBackAreNotAvailableOnce) {
  machine_.make_bare_metal();
  read();
  machine_.write_ticks(500, 1100);
  EXPECT_EQ(read().utilisation.reason(), "a counter went back");
  machine_.write_ticks(510, 1110);
  EXPECT_DOUBLE_EQ(*read().utilisation, 0.5);
}

TEST_F(CpuSensor, CountersThatStandStillSayNothing) {
  machine_.make_bare_metal();
  read();
  EXPECT_THAT(read().utilisation.reason(), HasSubstr("no time has passed"));
}

TEST_F(CpuSensor, StatThatVanishesIsNamedAndBridgedWhenItComesBack) {
  machine_.make_bare_metal();
  read();
  machine_.remove("proc/stat");
  EXPECT_THAT(read().utilisation.reason(), HasSubstr("/proc/stat: No such file"));
  machine_.write_ticks(1010, 1030);
  EXPECT_DOUBLE_EQ(*read().utilisation, 0.25);
}

class NonsenseStat : public CpuSensor, public ::testing::WithParamInterface<const char*> {};

TEST_P(NonsenseStat, IsNotAvailable) {
  machine_.make_bare_metal();
  read();
  machine_.write("proc/stat", GetParam());
  EXPECT_THAT(read().utilisation.reason(), EndsWith("/proc/stat makes no sense"));
}

INSTANTIATE_TEST_SUITE_P(Files, NonsenseStat,
                         ::testing::Values("", "\n", "cpu", "cpu 1 2 3\n", "cpux 1 2 3 4\n",
                                           "cpu -1 2 3 4\n", "cpu 1 2 x 4 5 6 7 8\n",
                                           "cpu 99999999999999999999999 0 0 1\n"));

// --- Load average ------------------------------------------------------------------------------

TEST_F(CpuSensor, LoadIsSpreadOverTheCpusOfTheMachine) {
  machine_.make_docker_v2();  // 1.5 CPUs are ours, but the load is that of the machine's two
  machine_.write("proc/loadavg", "3.00 2.00 1.00 1/100 4242\n");
  EXPECT_DOUBLE_EQ(*read().load_per_cpu, 1.5);
}

TEST_F(CpuSensor, LoadThatMakesNoSenseIsNotAvailable) {
  machine_.make_bare_metal();
  for (const char* const text : {"", "high", "-1.00 0 0", "nan 0 0", "inf 0 0"}) {
    machine_.write("proc/loadavg", text);
    EXPECT_THAT(read().load_per_cpu.reason(), EndsWith("/proc/loadavg makes no sense")) << text;
  }
}

// --- Groups with a quota -----------------------------------------------------------------------

TEST_F(CpuSensor, WithoutAQuotaNothingIsUsedOfItNorThrottled) {
  machine_.make_bare_metal();
  read();
  const auto reading = read();
  EXPECT_THAT(reading.quota_use.reason(), HasSubstr("no CPU quota"));
  EXPECT_THAT(reading.throttled.reason(), HasSubstr("no CPU quota"));
}

TEST_F(CpuSensor, V2UseIsCpuTimeOverWhatTheQuotaAllows) {
  machine_.make_docker_v2();
  write_stat_v2(v2, 1'000'000, 100, 10);
  EXPECT_EQ(read().quota_use.reason(), "needs a second reading");
  write_stat_v2(v2, 1'750'000, 110, 15);
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.quota_use->share, 0.5);  // 0.75 s in 1 s, of 1.5 CPUs
  EXPECT_EQ(reading.quota_use->group, machine_.path(v2));
}

TEST_F(CpuSensor, V2ThrottledIsTheShareOfPeriods) {
  machine_.make_docker_v2();
  write_stat_v2(v2, 0, 100, 10);
  EXPECT_EQ(read().throttled.reason(), "needs a second reading");
  write_stat_v2(v2, 1, 110, 14);
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.throttled->share, 0.4);
  EXPECT_EQ(reading.throttled->group, machine_.path(v2));
}

TEST_F(CpuSensor, AGroupThatDidNotRunWasNotThrottled) {
  machine_.make_docker_v2();
  read();
  EXPECT_DOUBLE_EQ(read().throttled->share, 0.0);
}

TEST_F(CpuSensor, WithinOnePeriodNothingIsKnownAboutThrottling) {
  machine_.make_docker_v2();
  read();
  EXPECT_THAT(sensor_.read(now_ + 50ms).throttled.reason(), HasSubstr("no time has passed"));
}

TEST_F(CpuSensor, AClockThatStandsStillGivesNoUse) {
  machine_.make_docker_v2();
  read();
  EXPECT_THAT(sensor_.read(now_).quota_use.reason(), HasSubstr("no time has passed"));
}

TEST_F(CpuSensor, TheWorstOfNestedGroupsIsToldByName) {
  machine_.make_nested_v2();
  machine_.write(v2 + "/a/cpu.max", "400000 100000\n");
  machine_.write(v2 + "/a/b/c/cpu.max", "100000 100000\n");
  write_stat_v2(v2 + "/a", 0, 0, 0);
  write_stat_v2(v2 + "/a/b/c", 0, 0, 0);
  read();
  write_stat_v2(v2 + "/a", 3'600'000, 10, 9);
  write_stat_v2(v2 + "/a/b/c", 500'000, 10, 1);
  const auto reading = read();
  EXPECT_DOUBLE_EQ(*reading.quota, 1.0);
  EXPECT_DOUBLE_EQ(reading.quota_use->share, 0.9);
  EXPECT_EQ(reading.quota_use->group, machine_.path(v2 + "/a"));
  EXPECT_DOUBLE_EQ(reading.throttled->share, 0.9);
  EXPECT_EQ(reading.throttled->group, machine_.path(v2 + "/a"));
}

TEST_F(CpuSensor, V1CountersOfControllersMountedTogether) {
  machine_.make_kubernetes_v1();
  read();
  machine_.write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 10\nnr_throttled 5\n");
  machine_.write("sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", "1000000000\n");
  const auto reading = read();
  EXPECT_EQ(reading.usable, 2U);
  EXPECT_DOUBLE_EQ(reading.quota_use->share, 0.5);
  EXPECT_DOUBLE_EQ(reading.throttled->share, 0.5);
}

TEST_F(CpuSensor, V1CpuTimeIsFoundWhereItsControllerIsMountedAlone) {
  machine_.make_hybrid();
  read();
  machine_.write("sys/fs/cgroup/cpuacct/app/cpuacct.usage", "250000000\n");
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.quota_use->share, 0.25);
  EXPECT_EQ(reading.usable, 1U);
}

TEST_F(CpuSensor, GroupCountersThatGoBackAreNotAvailable) {
  machine_.make_docker_v2();
  write_stat_v2(v2, 5000, 50, 5);
  read();
  write_stat_v2(v2, 4000, 40, 5);
  const auto reading = read();
  EXPECT_EQ(reading.quota_use.reason(), "a counter went back");
  EXPECT_EQ(reading.throttled.reason(), "a counter went back");
}

TEST_F(CpuSensor, GroupFilesThatVanishAreNamed) {
  machine_.make_docker_v2();
  read();
  machine_.remove(v2 + "/cpu.stat");
  const auto reading = read();
  EXPECT_THAT(reading.quota_use.reason(), HasSubstr("cpu.stat: No such file"));
  EXPECT_THAT(reading.throttled.reason(), HasSubstr("cpu.stat: No such file"));
}

TEST_F(CpuSensor, AMachineWithoutAnyFilesStillHasCpus) {
  const auto reading = read();
  EXPECT_EQ(reading.usable, 4U);
  EXPECT_FALSE(reading.utilisation);
  EXPECT_FALSE(reading.load_per_cpu);
}

// --- The running system ------------------------------------------------------------------------

TEST(CpuSensorLive, IsPlausible) {
  cpu_sensor sensor;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(sensor.read(start).utilisation);
  // Ticks are coarse: spin until the counters have moved.
  cpu_reading reading;
  do {
    reading = sensor.read(std::chrono::steady_clock::now());
  } while (!reading.utilisation && std::chrono::steady_clock::now() - start < 10s);
  ASSERT_TRUE(reading.utilisation) << reading.utilisation.reason();
  EXPECT_GE(*reading.utilisation, 0.0);
  EXPECT_LE(*reading.utilisation, 1.0);
  EXPECT_GE(reading.usable, 1U);
  ASSERT_TRUE(reading.load_per_cpu) << reading.load_per_cpu.reason();
  EXPECT_GE(*reading.load_per_cpu, 0.0);
}

}  // namespace
}  // namespace weft::adapt
