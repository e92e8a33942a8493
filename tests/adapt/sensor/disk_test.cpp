#include <weft/adapt/sensor/disk.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapt/fake_machine.hpp"

namespace weft::adapt {
namespace {

using ::testing::HasSubstr;

TEST(DiskSensor, ReadsTheFileSystemOfAPath) {
  const test::fake_machine machine;
  const auto space = disk_sensor({.path = machine.root()}).read();
  ASSERT_TRUE(space) << space.reason();
  EXPECT_GT(space->size, 0U);
  EXPECT_LE(space->free, space->size);
  EXPECT_GE(space->free_share(), 0.0);
  EXPECT_LE(space->free_share(), 1.0);
}

TEST(DiskSensor, APathThatVanishesIsNamed) {
  const test::fake_machine machine;
  machine.write("data/file", "x");
  const disk_sensor sensor({.path = machine.path("data/file")});
  EXPECT_TRUE(sensor.read());
  machine.remove("data");
  EXPECT_THAT(sensor.read().reason(), HasSubstr(machine.path("data/file") + ": No such file"));
}

TEST(DiskSensor, AFileSystemWithoutSizeIsNeitherFullNorEmpty) {
  const auto space = disk_sensor({.path = "/proc/self"}).read();
  EXPECT_THAT(space.reason(), HasSubstr("has no size"));
}

TEST(DiskSensor, FreeShareIsOfTheSize) {
  EXPECT_DOUBLE_EQ((disk_space{.free = 25, .size = 100}.free_share()), 0.25);
  EXPECT_DOUBLE_EQ(disk_space{}.free_share(), 0.0);
}

}  // namespace
}  // namespace weft::adapt
