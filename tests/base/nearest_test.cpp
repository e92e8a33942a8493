#include "base/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace weft::base {
namespace {

constexpr std::array<std::string_view, 4> keys = {"command", "timeout", "retries", "id"};

TEST(Nearest, FindsTheWordThatIsOneSlipAway) {
  EXPECT_EQ(nearest("comand", keys), "command");
  EXPECT_EQ(nearest("commnad", keys), "command");  // two letters swapped are one slip
  EXPECT_EQ(nearest("timeouts", keys), "timeout");
  EXPECT_EQ(nearest("di", keys), "id");
}

TEST(Nearest, FindsNothingForAWordThatIsFarFromAll) {
  EXPECT_EQ(nearest("colour", keys), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest("x", std::array<std::string_view, 1>{"y"}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'c'), keys), "");
}

TEST(Nearest, PrefersTheClosest) {
  constexpr std::array<std::string_view, 3> near = {"retires", "retry", "retries"};
  EXPECT_EQ(nearest("retrie", near), "retries");
}

}  // namespace
}  // namespace weft::base
