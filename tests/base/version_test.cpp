#include <weft/version.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(Version, TextNumbersAndBuildSystemAgree) {
  const std::string from_numbers = std::to_string(WEFT_VERSION_MAJOR) + "." +
                                   std::to_string(WEFT_VERSION_MINOR) + "." +
                                   std::to_string(WEFT_VERSION_PATCH);
  EXPECT_EQ(from_numbers, WEFT_VERSION);
  EXPECT_STREQ(WEFT_CMAKE_VERSION, WEFT_VERSION);
}

}  // namespace
