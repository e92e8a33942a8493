#include <weft/adapt/sensor/pressure.hpp>

#include <fcntl.h>
#include <poll.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapt/fake_machine.hpp"

namespace weft::adapt {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PressureSensor : public ::testing::Test {
 protected:
  [[nodiscard]] pressure_reading read() const { return sensor_.read(); }

  test::fake_machine machine_;
  pressure_sensor sensor_{{.root = machine_.root()}};
};

TEST_F(PressureSensor, BareMetalReadsTheMachine) {
  machine_.make_bare_metal();
  machine_.write("proc/pressure/memory",
                 "some avg10=12.40 avg60=6.50 avg300=11.72 total=5365925154\n"
                 "full avg10=3.00 avg60=1.25 avg300=0.00 total=42\n");
  const auto memory = read().memory;
  EXPECT_DOUBLE_EQ(memory.some->avg10, 0.124);
  EXPECT_DOUBLE_EQ(memory.some->avg60, 0.065);
  EXPECT_EQ(memory.some->total, 5365925154us);
  EXPECT_DOUBLE_EQ(memory.full->avg10, 0.03);
  EXPECT_DOUBLE_EQ(memory.full->avg60, 0.0125);
  EXPECT_EQ(memory.full->total, 42us);
  EXPECT_EQ(memory.source, machine_.path("proc/pressure/memory"));
}

TEST_F(PressureSensor, DockerV2ReadsItsOwnGroup) {
  machine_.make_docker_v2();
  machine_.write_pressure("proc/pressure/io", "90.00", "80.00");
  machine_.write_pressure("sys/fs/cgroup/io.pressure", "2.00", "1.00");
  EXPECT_DOUBLE_EQ(read().io.full->avg10, 0.01);
  EXPECT_DOUBLE_EQ(read().machine_io.full->avg10, 0.8);
}

TEST_F(PressureSensor, KubernetesV1HasNoGroupFilesAndReadsTheMachine) {
  machine_.make_kubernetes_v1();
  machine_.write_pressure("proc/pressure/io", "7.00", "5.00");
  EXPECT_DOUBLE_EQ(read().io.full->avg10, 0.05);
}

TEST_F(PressureSensor, HybridReadsTheV2Group) {
  machine_.make_hybrid();
  machine_.write_pressure("sys/fs/cgroup/unified/app/cpu.pressure", "33.00", "11.00");
  const auto cpu = read().cpu;
  EXPECT_DOUBLE_EQ(cpu.some->avg10, 0.33);
  EXPECT_EQ(cpu.source, machine_.path("sys/fs/cgroup/unified/app/cpu.pressure"));
}

TEST_F(PressureSensor, TheNearestAncestorThatTellsIsRead) {
  machine_.make_nested_v2();
  machine_.write_pressure("sys/fs/cgroup/a/memory.pressure", "1.00", "1.00");
  machine_.write_pressure("sys/fs/cgroup/a/b/memory.pressure", "2.00", "2.00");
  EXPECT_DOUBLE_EQ(read().memory.some->avg10, 0.02);
  machine_.write("sys/fs/cgroup/a/b/memory.pressure", "nonsense\n");
  EXPECT_DOUBLE_EQ(read().memory.some->avg10, 0.01);
  machine_.remove("sys/fs/cgroup/a");
  EXPECT_EQ(read().memory.source, machine_.path("proc/pressure/memory"));
}

TEST_F(PressureSensor, FullCpuPressureOfAMachineDoesNotExist) {
  machine_.make_bare_metal();
  const auto cpu = read().cpu;
  EXPECT_TRUE(cpu.some);
  EXPECT_THAT(cpu.full.reason(), HasSubstr("does not define"));
}

TEST_F(PressureSensor, NorDoesThatOfTheGroupAtTheTop) {
  machine_.make_docker_v2();
  EXPECT_TRUE(read().cpu.full);
  machine_.remove("sys/fs/cgroup/cgroup.events");  // what every other group has
  EXPECT_FALSE(read().cpu.full);
  EXPECT_TRUE(read().memory.full);
}

TEST_F(PressureSensor, AKernelWithoutPressureIsNamed) {
  const auto reading = read();
  EXPECT_THAT(reading.cpu.some.reason(), HasSubstr("/proc/pressure/cpu: No such file"));
  EXPECT_THAT(reading.io.full.reason(), HasSubstr("/proc/pressure/io: No such file"));
}

TEST_F(PressureSensor, AMissingFullLineLeavesSome) {
  machine_.write("proc/pressure/io", "some avg10=1.00 avg60=1.00 avg300=1.00 total=1\n");
  EXPECT_TRUE(read().io.some);
  EXPECT_THAT(read().io.full.reason(), HasSubstr("no line for full"));
}

TEST_F(PressureSensor, WhatIsALittleTooMuchCountsAsTheMost) {
  machine_.write("proc/pressure/io",
                 "some avg10=100.37 avg60=100.01 avg300=1.00 total=18446744073709551615\n");
  const auto io = read().io;
  ASSERT_TRUE(io.some) << io.some.reason();
  EXPECT_DOUBLE_EQ(io.some->avg10, 1.0);
  EXPECT_DOUBLE_EQ(io.some->avg60, 1.0);
  EXPECT_EQ(io.some->total, std::chrono::microseconds::max());
}

class NonsensePressure : public PressureSensor,
                         public ::testing::WithParamInterface<const char*> {};

TEST_P(NonsensePressure, IsNotAvailable) {
  machine_.write("proc/pressure/io", GetParam());
  EXPECT_THAT(read().io.some.reason(), EndsWith("/proc/pressure/io makes no sense"));
}

INSTANTIATE_TEST_SUITE_P(Files, NonsensePressure,
                         ::testing::Values("", "some\n", "some avg10=1.00 avg60=1.00\n",
                                           "some avg10=x avg60=1.00 avg300=1.00 total=1\n",
                                           "some avg10=-1.00 avg60=1.00 avg300=1.00 total=1\n",
                                           "some avg10=nan avg60=1.00 avg300=1.00 total=1\n",
                                           "some avg60=1.00 avg10=1.00 avg300=1.00 total=1\n",
                                           "some avg10=1.00 avg60=1.00 avg300=1.00 total=-1\n",
                                           "full avg10=1.00 avg60=1.00 avg300=1.00 total=1\n"));

// --- Triggers ----------------------------------------------------------------------------------

TEST(PressureTrigger, WhereThereIsNoFileTheReasonNamesEachOneTried) {
  test::fake_machine machine;
  machine.make_docker_v2();
  machine.remove("sys/fs/cgroup/memory.pressure");
  machine.remove("proc/pressure");
  const auto trigger = pressure_trigger::open({.root = machine.root()});
  ASSERT_FALSE(trigger);
  EXPECT_THAT(trigger.reason(), HasSubstr("cgroup/memory.pressure: No such file"));
  EXPECT_THAT(trigger.reason(), HasSubstr("/proc/pressure/memory: No such file"));
}

TEST(PressureTrigger, TellsTheKernelTheConditionAndItsEnd) {
  test::fake_machine machine;
  machine.make_docker_v2();
  const auto trigger = pressure_trigger::open(
      {.root = machine.root(), .resource = pressure_resource::io, .stall_time = 300ms});
  ASSERT_TRUE(trigger) << trigger.reason();
  EXPECT_EQ(trigger->source(), machine.path("sys/fs/cgroup/io.pressure"));
  std::ifstream file(trigger->source());
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, StartsWith(std::string("some 300000 2000000\0", 20)));
}

TEST(PressureTrigger, ClosesItsDescriptorOnce) {
  test::fake_machine machine;
  machine.make_bare_metal();
  int descriptor = -1;
  {
    auto first = pressure_trigger::open({.root = machine.root()});
    ASSERT_TRUE(first) << first.reason();
    descriptor = first->descriptor();
    const pressure_trigger moved = *std::move(first);
    EXPECT_EQ(moved.descriptor(), descriptor);
    EXPECT_NE(fcntl(descriptor, F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
}

TEST(PressureTrigger, ConditionsTheKernelCannotMeanAreRefusedByField) {
  const auto problem = [](std::chrono::microseconds stall_time, std::chrono::microseconds window) {
    try {
      static_cast<void>(pressure_trigger::open({.stall_time = stall_time, .window = window}));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(problem(1ms, 499ms), HasSubstr("window is 499000 us, and must be between 500000"));
  EXPECT_THAT(problem(1ms, 11s), HasSubstr("window"));
  EXPECT_THAT(problem(0ms, 2s), HasSubstr("stall_time is 0 us, and must be between 1 and"));
  EXPECT_THAT(problem(3s, 2s), HasSubstr("stall_time"));
}

// --- The running system ------------------------------------------------------------------------

TEST(PressureSensorLive, IsPlausible) {
  const auto reading = pressure_sensor().read();
  if (!reading.cpu.some) GTEST_SKIP() << "no pressure here: " << reading.cpu.some.reason();
  for (const auto* const pressure : {&reading.cpu, &reading.memory, &reading.io}) {
    ASSERT_TRUE(pressure->some) << pressure->some.reason();
    EXPECT_GE(pressure->some->avg10, 0.0);
    EXPECT_LE(pressure->some->avg10, 1.0);
    EXPECT_GE(pressure->some->total, 0us);
  }
}

TEST(PressureTriggerLive, CanBePolledOrIsRefusedWithAReason) {
  const auto trigger = pressure_trigger::open({.resource = pressure_resource::cpu});
  if (!trigger) {
    EXPECT_THAT(trigger.reason(), HasSubstr("/proc/pressure/cpu: "));
    return;
  }
  pollfd waiting{.fd = trigger->descriptor(), .events = POLLPRI, .revents = 0};
  ASSERT_GE(poll(&waiting, 1, 0), 0);
  EXPECT_EQ(waiting.revents & (POLLERR | POLLNVAL), 0);
}

}  // namespace
}  // namespace weft::adapt
