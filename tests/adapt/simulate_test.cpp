#include <weft/adapt/simulate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ranges>
#include <stdexcept>
#include <vector>

#include <weft/adapt/policy/health_zones.hpp>
#include <weft/adapt/policy/throughput.hpp>

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using weft::decision;
using weft::health_reading;
using weft::health_zones;
using weft::simulate;
using weft::adapt::recorded;
using weft::adapt::sizing;
using weft::adapt::throughput;
using weft::adapt::time_point;
using weft::adapt::work_window;

using health_trace = std::vector<recorded<health_reading>>;

TEST(Simulate, GivesTheDecisionOfEachRow) {
  const health_trace day = {{time_point(0s), {.score = 100}},
                            {time_point(300s), {.score = 100}},
                            {time_point(301s), {.score = 20}}};
  const std::vector<decision> decisions = simulate(health_zones({.max = 10}, time_point{}), day);
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_EQ(decisions[0].limit, 5U);
  EXPECT_EQ(decisions[1].limit, 7U);
  EXPECT_EQ(decisions[2].limit, 1U);
}

TEST(Simulate, LeavesThePolicyAsItWas) {
  const health_zones policy({.max = 10}, time_point{});
  const health_trace day = {{time_point(0s), {.score = 0}}};
  EXPECT_EQ(simulate(policy, day).at(0).limit, 1U);
  EXPECT_EQ(policy.state().limit, 5U);
}

TEST(Simulate, TakesAnyPolicy) {
  throughput policy({});
  policy.start(2);
  const std::vector<recorded<work_window>> run = {
      {time_point(1s),
       {.wall = 1s, .cpu = 200ms, .completed = 20, .waiting = 5, .workers = 2, .usable_cpus = 2}}};
  const std::vector<sizing> sizes = simulate(policy, run);
  EXPECT_EQ(sizes.at(0).workers, 4U);
}

TEST(Simulate, TakesATraceThatIsMadeAsItGoes) {
  auto seconds = std::views::iota(0, 1000) | std::views::transform([](int second) {
                   return recorded<health_reading>{time_point(1s * second), {.score = 100}};
                 });
  unsigned last = 0;
  int rows = 0;
  simulate(health_zones({.max = 10}, time_point{}), seconds,
           [&](const recorded<health_reading>& row, const decision& d) {
             EXPECT_EQ(row.at, time_point(1s * rows));
             last = d.limit;
             ++rows;
           });
  EXPECT_EQ(rows, 1000);
  EXPECT_EQ(last, 10U);
}

TEST(Simulate, AnEmptyTraceHasNoDecisions) {
  EXPECT_TRUE(simulate(health_zones({}), health_trace{}).empty());
}

TEST(Simulate, RefusesATraceThatGoesBackInTime) {
  const health_trace day = {{time_point(10s), {.score = 1}},
                            {time_point(10s), {.score = 1}},
                            {time_point(9s), {.score = 1}}};
  try {
    static_cast<void>(simulate(health_zones({}), day));
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("row 2"));
  }
}

}  // namespace
