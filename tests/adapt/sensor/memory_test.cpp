#include <weft/adapt/sensor/memory.hpp>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapt/fake_machine.hpp"

namespace weft::adapt {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class MemorySensor : public ::testing::Test {
 protected:
  [[nodiscard]] memory_reading read() const { return sensor_.read(); }

  test::fake_machine machine_;
  memory_sensor sensor_{{.root = machine_.root()}};
};

const std::string v2 = "sys/fs/cgroup";

// --- The machine -------------------------------------------------------------------------------

TEST_F(MemorySensor, BareMetalUsesWhatIsNotAvailable) {
  machine_.make_bare_metal();
  machine_.write_meminfo(1000, 250);
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.machine->share(), 0.75);
  EXPECT_EQ(reading.machine->limit, 1000U * 1024);
  EXPECT_THAT(reading.group.reason(), HasSubstr("no memory limit"));
  EXPECT_EQ(reading.worst()->where, "the machine");
}

TEST_F(MemorySensor, KernelsThatDoNotTellWhatIsAvailableHaveNoMachineReading) {
  machine_.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 500 kB\n");
  EXPECT_THAT(read().machine.reason(), HasSubstr("no MemAvailable"));
}

TEST_F(MemorySensor, MeminfoThatMakesNoSenseIsNotAvailable) {
  for (const char* const text :
       {"MemTotal: 0 kB\nMemAvailable: 0 kB\n", "MemTotal: 5 kB\nMemAvailable: 6 kB\n",
        "MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB\n"}) {
    machine_.write("proc/meminfo", text);
    EXPECT_THAT(read().machine.reason(), EndsWith("/proc/meminfo makes no sense")) << text;
  }
}

TEST_F(MemorySensor, NothingAtAllIsNeitherFullNorEmpty) {
  const auto reading = read();
  EXPECT_FALSE(reading.machine);
  EXPECT_FALSE(reading.group);
  EXPECT_FALSE(reading.worst());
  EXPECT_FALSE(reading.oom_kills);
}

// --- Groups ------------------------------------------------------------------------------------

TEST_F(MemorySensor, DockerV2CountsUsageWithoutInactiveFilesAgainstTheLimit) {
  machine_.make_docker_v2();
  machine_.write_group_v2(v2, {.current = 800, .max = "1000", .inactive_file = 300});
  const auto reading = read();
  EXPECT_EQ(reading.group->used, 500U);
  EXPECT_EQ(reading.group->limit, 1000U);
  EXPECT_EQ(reading.group->where, machine_.path(v2));
}

TEST_F(MemorySensor, TheMarkWhereTheKernelSlowsAGroupDownCountsAsItsLimit) {
  machine_.make_docker_v2();
  machine_.write_group_v2(v2, {.current = 450, .max = "1000", .high = "500"});
  EXPECT_DOUBLE_EQ(read().group->share(), 0.9);
  machine_.write_group_v2(v2, {.current = 450, .max = "max", .high = "500"});
  EXPECT_DOUBLE_EQ(read().group->share(), 0.9);
}

TEST_F(MemorySensor, MoreInactiveFilesThanUsageIsNoUse) {
  machine_.make_docker_v2();
  machine_.write_group_v2(v2, {.current = 100, .max = "1000", .inactive_file = 300});
  EXPECT_EQ(read().group->used, 0U);
}

TEST_F(MemorySensor, WithoutStatisticsAllUsageCounts) {
  machine_.make_docker_v2();
  machine_.write_group_v2(v2, {.current = 800, .max = "1000", .inactive_file = 300});
  machine_.remove(v2 + "/memory.stat");
  EXPECT_EQ(read().group->used, 800U);
}

TEST_F(MemorySensor, OfNestedLimitsTheFullestCounts) {
  machine_.make_nested_v2();
  machine_.write_group_v2(v2 + "/a", {.current = 9000, .max = "10000"});
  machine_.write_group_v2(v2 + "/a/b", {.current = 950, .max = "max"});
  machine_.write_group_v2(v2 + "/a/b/c", {.current = 50, .max = "100"});
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.group->share(), 0.9);
  EXPECT_EQ(reading.group->where, machine_.path(v2 + "/a"));
}

TEST_F(MemorySensor, ALimitOfNothingIsFull) {
  machine_.make_docker_v2();
  machine_.write_group_v2(v2, {.current = 0, .max = "0"});
  EXPECT_DOUBLE_EQ(read().group->share(), 1.0);
}

TEST_F(MemorySensor, KubernetesV1HasItsOwnNamesForTheSame) {
  machine_.make_kubernetes_v1();
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.group->share(), 0.5);
  EXPECT_EQ(reading.group->where, machine_.path("sys/fs/cgroup/memory"));
  EXPECT_EQ(*reading.oom_kills, 0U);
}

TEST_F(MemorySensor, HybridFindsTheLimitOfAnAncestorInV1) {
  machine_.make_hybrid();
  const auto reading = read();
  EXPECT_DOUBLE_EQ(reading.group->share(), 0.7);
  EXPECT_EQ(reading.group->where, machine_.path("sys/fs/cgroup/memory/app"));
}

TEST_F(MemorySensor, InV1TheLimitOfAnAncestorThatIsHiddenCounts) {
  machine_.make_kubernetes_v1();
  const std::string group = "sys/fs/cgroup/memory/memory.";
  machine_.write(group + "limit_in_bytes", "9223372036854771712\n");
  machine_.write(group + "usage_in_bytes", "900\n");
  machine_.write(group + "stat", "hierarchical_memory_limit 1000\ntotal_inactive_file 100\n");
  EXPECT_DOUBLE_EQ(read().group->share(), 0.8);
  machine_.write(group + "limit_in_bytes", "2000\n");
  EXPECT_EQ(read().group->limit, 1000U);
  machine_.write(group + "stat", "hierarchical_memory_limit 9223372036854771712\n");
  EXPECT_EQ(read().group->limit, 2000U);
}

class NoLimitV1 : public MemorySensor, public ::testing::WithParamInterface<const char*> {};

TEST_P(NoLimitV1, IsNoLimit) {
  machine_.make_kubernetes_v1();
  machine_.write("sys/fs/cgroup/memory/memory.limit_in_bytes", GetParam());
  EXPECT_THAT(read().group.reason(), HasSubstr("no memory limit"));
}

INSTANTIATE_TEST_SUITE_P(Texts, NoLimitV1,
                         ::testing::Values("-1\n", "9223372036854771712\n", "4611686018427387904\n",
                                           "18446744073709551615\n", "", "lots\n", "1e9\n"));

TEST_F(MemorySensor, TheGreatestNumberBelowNoLimitIsALimit) {
  machine_.make_kubernetes_v1();
  machine_.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4611686018427387903\n");
  EXPECT_TRUE(read().group);
}

TEST_F(MemorySensor, TheWorseOfMachineAndGroupIsTold) {
  machine_.make_docker_v2();
  machine_.write_group_v2(v2, {.current = 900, .max = "1000"});
  machine_.write_meminfo(1000, 500);
  EXPECT_EQ(read().worst()->where, machine_.path(v2));
  machine_.write_meminfo(1000, 50);
  EXPECT_EQ(read().worst()->where, "the machine");
}

TEST_F(MemorySensor, ALimitedGroupWhoseUsageVanishesIsNamed) {
  machine_.make_docker_v2();
  ASSERT_TRUE(read().group);
  machine_.remove(v2 + "/memory.current");
  const auto reading = read();
  EXPECT_THAT(reading.group.reason(), HasSubstr("memory.current: No such file"));
  EXPECT_TRUE(reading.worst());  // the machine still tells
}

// --- Kills -------------------------------------------------------------------------------------

TEST_F(MemorySensor, KillsAreCountedInV2Events) {
  machine_.make_docker_v2();
  machine_.write(v2 + "/memory.events", "low 0\noom 4\noom_kill 3\noom_group_kill 0\n");
  EXPECT_EQ(*read().oom_kills, 3U);
}

TEST_F(MemorySensor, KillsAreCountedInV1Control) {
  machine_.make_kubernetes_v1();
  machine_.write("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 1\noom_kill 2\n");
  EXPECT_EQ(*read().oom_kills, 2U);
}

TEST_F(MemorySensor, OldKernelsDoNotCountKills) {
  machine_.make_kubernetes_v1();
  machine_.write("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
  EXPECT_THAT(read().oom_kills.reason(), HasSubstr("oom_kill"));
}

// --- The running system ------------------------------------------------------------------------

TEST(MemorySensorLive, IsPlausible) {
  const auto reading = memory_sensor().read();
  ASSERT_TRUE(reading.machine) << reading.machine.reason();
  EXPECT_GT(reading.machine->share(), 0.0);
  EXPECT_LT(reading.machine->share(), 1.0);
  EXPECT_GT(reading.machine->limit, std::uint64_t{16} << 20);
  ASSERT_TRUE(reading.worst());
  EXPECT_GE(reading.worst()->share(), reading.machine->share());
}

}  // namespace
}  // namespace weft::adapt
