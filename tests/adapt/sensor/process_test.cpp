#include <weft/adapt/sensor/process.hpp>

#include <unistd.h>

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapt/fake_machine.hpp"

namespace weft::adapt {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ProcessSensor, ResidentMemoryIsTheSecondColumnInPages) {
  const test::fake_machine machine;
  machine.make_bare_metal();
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(*process_sensor({.root = machine.root()}).read_resident(), 300 * page);
}

TEST(ProcessSensor, WhatMakesNoSenseOrVanishesIsNotAvailable) {
  const test::fake_machine machine;
  const process_sensor sensor({.root = machine.root()});
  for (const char* const text : {"", "12", "12 x 3", "12 -3", "1 18446744073709551615"}) {
    machine.write("proc/self/statm", text);
    EXPECT_THAT(sensor.read_resident().reason(), EndsWith("statm makes no sense")) << text;
  }
  machine.remove("proc");
  EXPECT_THAT(sensor.read_resident().reason(), HasSubstr("statm: No such file"));
}

TEST(ProcessSensorLive, TouchedMemoryShows) {
  const process_sensor sensor;
  const auto before = sensor.read_resident();
  ASSERT_TRUE(before) << before.reason();
  constexpr std::size_t size = std::size_t{64} << 20;
  const std::vector<char> touched(size, 'x');
  const auto after = sensor.read_resident();
  ASSERT_TRUE(after) << after.reason();
  EXPECT_GT(*before, 0U);
  EXPECT_GE(*after, *before + size / 2) << static_cast<const void*>(touched.data());
}

}  // namespace
}  // namespace weft::adapt
