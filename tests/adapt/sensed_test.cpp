#include <weft/adapt/sensed.hpp>

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace weft::adapt {
namespace {

TEST(Sensed, HoldsAValueAndThenHasNoReason) {
  const sensed<std::string> name = std::string("value");
  ASSERT_TRUE(name);
  EXPECT_EQ(*name, "value");
  EXPECT_EQ(name->size(), 5U);
  EXPECT_EQ(name.reason(), "");
}

TEST(Sensed, OrTheReasonWhyThereIsNone) {
  const sensed<double> load = unavailable{"no such file"};
  EXPECT_FALSE(load);
  EXPECT_EQ(load.reason(), "no such file");
}

TEST(Sensed, WhatWasNeverReadSaysSo) { EXPECT_EQ(sensed<int>().reason(), "not read"); }

TEST(Sensed, ZeroIsAValueAndNotTheSameAsNone) {
  EXPECT_TRUE(sensed<int>(0));
  EXPECT_NE(sensed<int>(0), sensed<int>());
}

TEST(Sensed, CarriesWhatCanOnlyBeMoved) {
  sensed<std::unique_ptr<int>> owner = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(owner);
  EXPECT_EQ(*taken, 7);
}

TEST(SensedDeathTest, UsingAValueThatIsNotThereStopsTheProgram) {
  const sensed<int> none;
  EXPECT_DEATH(static_cast<void>(*none), "look whether a sensed value is there");
}

}  // namespace
}  // namespace weft::adapt
