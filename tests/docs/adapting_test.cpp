// The code of docs/guide/adapting.md.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weft/adapt/machine_health.hpp>
#include <weft/adapt/policy/health_zones.hpp>

namespace {

using namespace std::chrono_literals;

TEST(AdaptingGuide, SensesThisMachine) {
  int logged = -1;
  const auto log = [&](int score, const std::string& limiting) {
    logged = score;
    EXPECT_FALSE(limiting.empty());
  };
  // [sense]
  weft::adapt::machine_health health({.disk_path = "/"});
  const auto report = health.read(std::chrono::steady_clock::now());
  if (report.score) log(*report.score, report.limiting);  // 0 to 100, and what keeps it there
  // [/sense]
  EXPECT_GE(logged, report.score ? 0 : -1);
  EXPECT_LE(logged, 100);
}

TEST(AdaptingGuide, DecidesOnAScore) {
  const auto now = std::chrono::steady_clock::now();
  // [decide]
  weft::health_zones policy({.min = 1, .max = 10});
  const weft::decision d = policy.poll({.score = 42, .age = 3s}, now);
  // [/decide]
  EXPECT_EQ(d.limit, 5U);
  EXPECT_EQ(d.reason, weft::decision_reason::health_warning);
}

}  // namespace
