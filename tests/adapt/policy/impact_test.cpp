#include <weft/adapt/policy/impact.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include <support/scale.hpp>

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using weft::adapt::explain;
using weft::adapt::impact;
using weft::adapt::impact_config;
using weft::adapt::impact_state;
using weft::adapt::resource_use;
using weft::adapt::sizing;
using weft::adapt::sizing_reason;
using weft::adapt::time_point;

// CPU-bound workers on a machine of their own, polled every second.
unsigned workers_after(double cpus, int seconds, impact_config config = {}) {
  impact policy(config);
  unsigned workers = policy.start();
  time_point now{};
  policy.poll({.cpu = 0, .waiting = 100}, now);
  for (int i = 0; i < seconds; ++i) {
    now += 1s;
    const double use = 100 * std::min(1.0, workers / cpus);
    workers = policy.poll({.cpu = use, .waiting = 100}, now).workers;
  }
  return workers;
}

TEST(Impact, BeginsWithTheMinimum) {
  EXPECT_EQ(impact({}).start(), 1U);
  EXPECT_EQ(impact({.min = 3}).start(), 3U);
}

TEST(Impact, StopsWhereOneMoreWouldPassFourFifthsOfTheThreshold) {
  // Each costs 12.5 % of 8 CPUs: five use 62.5 %, and a sixth would use 75 % of the 68 % allowed.
  EXPECT_EQ(workers_after(8, 1000), 5U);
}

TEST(Impact, NeverStartsASecondWorkerOnTwoCpus) { EXPECT_EQ(workers_after(2, 1000), 1U); }

TEST(Impact, AddsOneWorkerInFiveSeconds) {
  impact policy({});
  policy.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(policy.poll({.cpu = 2, .waiting = 9}, time_point(1s)).reason, sizing_reason::settling);
  EXPECT_EQ(policy.poll({.cpu = 2, .waiting = 9}, time_point(2s)).reason,
            sizing_reason::cooling_down);
  const sizing added = policy.poll({.cpu = 2, .waiting = 9}, time_point(5s));
  EXPECT_EQ(added.workers, 2U);
  EXPECT_EQ(explain(added), "1 to 2 workers: one more would use 4 %, below 68 %");
  EXPECT_EQ(policy.poll({.cpu = 4, .waiting = 9}, time_point(9s)).workers, 2U);
  EXPECT_EQ(policy.poll({.cpu = 4, .waiting = 9}, time_point(10s)).workers, 3U);
}

TEST(Impact, TheImpactIsTakenTwoSecondsAfterTheWorker) {
  impact policy({});
  policy.poll({.cpu = 10, .waiting = 9}, time_point(0s));
  policy.poll({.cpu = 60, .waiting = 9}, time_point(1s));
  policy.poll({.cpu = 15, .waiting = 9}, time_point(2s));
  const sizing s = policy.poll({.cpu = 15, .waiting = 9}, time_point(5s));
  EXPECT_EQ(s.reason, sizing_reason::worker_added);
  EXPECT_DOUBLE_EQ(s.measured, 20);
}

TEST(Impact, ExpectsTheMeanOfTheLastFive) {
  impact_state state{.workers = 9, .begun = true};
  state.costs = {{{.cpu = 1}, {.cpu = 2}, {.cpu = 3}, {.cpu = 4}, {.cpu = 5}}};
  state.measured = 5;
  state.added_at = time_point(0s);
  const auto full = step(state, {}, {.cpu = 10, .waiting = 1}, time_point(9s));
  EXPECT_DOUBLE_EQ(full.sizing.measured, 13);
  // The sixth takes the place of the first.
  state.pending = impact_state::trial{.baseline = {.cpu = 10}, .since = time_point(0s), .added = 1};
  const auto sixth = step(state, {}, {.cpu = 21, .waiting = 1}, time_point(9s));
  EXPECT_DOUBLE_EQ(sixth.sizing.measured, 21 + (11 + 2 + 3 + 4 + 5) / 5.0);
}

TEST(Impact, TheFirstWorkersShareTheirImpact) {
  impact policy({.min = 4});
  policy.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  const sizing s = policy.poll({.cpu = 40, .waiting = 9}, time_point(5s));
  EXPECT_EQ(s.workers, 5U);
  EXPECT_DOUBLE_EQ(s.measured, 50);
}

TEST(Impact, ProjectedUseMustStayBelowFourFifthsOfTheThresholdAndNotReachThem) {
  impact at({.cpu_threshold = 50});
  at.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(at.poll({.cpu = 20, .waiting = 9}, time_point(5s)).reason, sizing_reason::no_headroom);
  impact below({.cpu_threshold = 50});
  below.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(below.poll({.cpu = 19.9, .waiting = 9}, time_point(5s)).workers, 2U);
}

TEST(Impact, MemoryOfTheGpuLimitsTooWhereThereIsOne) {
  impact policy({});
  policy.poll({.cpu = 0, .gpu_memory = 0, .waiting = 9}, time_point(0s));
  const sizing s = policy.poll({.cpu = 1, .gpu_memory = 40, .waiting = 9}, time_point(5s));
  EXPECT_EQ(s.workers, 1U);
  EXPECT_EQ(s.reason, sizing_reason::no_headroom);
  EXPECT_DOUBLE_EQ(s.measured, 80);
}

TEST(Impact, AWorkerThatHadNothingToDoIsNotMeasured) {
  impact policy({});
  policy.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(policy.poll({.cpu = 20, .waiting = 9}, time_point(5s)).workers, 2U);
  EXPECT_EQ(policy.poll({.cpu = 20, .waiting = 0}, time_point(6s)).reason,
            sizing_reason::no_demand);
  const sizing s = policy.poll({.cpu = 20, .waiting = 9}, time_point(10s));
  EXPECT_EQ(s.workers, 3U);
  EXPECT_DOUBLE_EQ(s.measured, 40) << "the cost of the first, and not its mean with 0";
}

TEST(Impact, AReadingOfTheGpuThatIsMissingIsNoCost) {
  impact policy({});
  policy.poll({.cpu = 0, .gpu_memory = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(policy.poll({.cpu = 1, .gpu_memory = 20, .waiting = 9}, time_point(5s)).workers, 2U);
  // The GPU does not answer when the second worker is measured.
  policy.poll({.cpu = 1, .waiting = 9}, time_point(8s));
  const sizing s = policy.poll({.cpu = 1, .gpu_memory = 40, .waiting = 9}, time_point(10s));
  EXPECT_DOUBLE_EQ(s.measured, 60);
}

TEST(Impact, NeverScalesDown) {
  impact policy({});
  policy.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(policy.poll({.cpu = 1, .waiting = 9}, time_point(5s)).workers, 2U);
  for (int i = 6; i < 100; ++i) {
    EXPECT_EQ(policy.poll({.cpu = 100, .waiting = 0}, time_point(1s * i)).workers, 2U);
  }
}

TEST(Impact, AddsNobodyWithoutDemandWithoutAReadingOrBeyondTheMaximum) {
  impact policy({.max = 2});
  policy.poll({.cpu = 0, .waiting = 9}, time_point(0s));
  EXPECT_EQ(policy.poll({.cpu = 1, .waiting = 0}, time_point(5s)).reason, sizing_reason::no_demand);
  EXPECT_EQ(policy.poll({.waiting = 9}, time_point(6s)).reason, sizing_reason::unmeasured);
  EXPECT_EQ(policy.poll({.cpu = 1, .waiting = 9}, time_point(7s)).workers, 2U);
  EXPECT_EQ(policy.poll({.cpu = 1, .waiting = 9}, time_point(20s)).reason,
            sizing_reason::at_bounds);
}

TEST(Impact, ADropOfTheUseIsNotCredited) {
  impact policy({});
  policy.poll({.cpu = 50, .waiting = 9}, time_point(0s));
  const sizing s = policy.poll({.cpu = 20, .waiting = 9}, time_point(5s));
  EXPECT_DOUBLE_EQ(s.measured, 20);
}

TEST(Impact, HundredThousandSimulatedHours) {
  constexpr std::uint64_t seed = 4;
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 random(seed);
  const int hours = weft::test::rounds(100'000);
  for (int hour = 0; hour < hours; ++hour) {
    const double cpus = 1 + static_cast<double>(random() % 64);
    const impact_config config{.min = 1, .max = 1 + static_cast<unsigned>(random() % 64)};
    impact policy(config);
    unsigned workers = policy.start();
    time_point now{};
    time_point added = now;
    for (int i = 0; now < time_point(1h); ++i) {
      const std::uint64_t bits = random();
      const double others = static_cast<double>(bits % 30);
      const double use = std::min(100.0, others + (i == 0 ? 0 : 100 * workers / cpus));
      const sizing s = policy.poll({.cpu = use, .waiting = (bits >> 20U) % 4}, now);
      const bool raised = s.workers > workers;
      if (s.workers < workers || s.workers > workers + 1 || s.workers > config.max ||
          (raised && (now - added < 5s || use >= 68))) {
        FAIL() << workers << " to " << s.workers << " at poll " << i << " of hour " << hour;
      }
      if (raised) added = now;
      workers = s.workers;
      now += std::chrono::seconds(1 + (bits >> 32U) % 19);
    }
  }
}

TEST(Impact, FieldsOutOfRangeAreRefusedByName) {
  const auto refusal = [](const impact_config& config) -> std::string {
    try {
      const impact policy(config);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.min = 0}), HasSubstr("impact_config.min is 0"));
  EXPECT_THAT(refusal({.min = 9, .max = 8}), HasSubstr("between 1 and 8"));
  EXPECT_THAT(refusal({.max = 1025}), HasSubstr("max is 1025"));
  EXPECT_THAT(refusal({.cpu_threshold = 101}), HasSubstr("cpu_threshold is 101 %"));
  EXPECT_THAT(refusal({.gpu_memory_threshold = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("gpu_memory_threshold"));
  EXPECT_THAT(refusal({.settle = 0s}), HasSubstr("settle is 0 ns"));
  EXPECT_THAT(refusal({.cooldown = -1ns}), HasSubstr("cooldown is -1 ns"));
  EXPECT_EQ(refusal({}), "");
}

}  // namespace
