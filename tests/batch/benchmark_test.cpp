#include <weft/batch/benchmark.hpp>

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <batch/records.hpp>
#include <support/property.hpp>
#include <support/temporary_directory.hpp>

namespace weft::batch {
namespace {

using test::ran;
using test::record_of;
using testing::HasSubstr;

measured_variant of_times(std::string name, std::vector<double> times) {
  measured_variant made{.how = {.name = std::move(name), .mode = "fixed"}};
  made.times = std::move(times);
  made.time = mean_of(made.times);
  return made;
}

TEST(MeanOf, IsStudentsInterval) {
  const interval three = mean_of(std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(three.mean, 2);
  EXPECT_NEAR(three.high - three.mean, 4.303 / std::sqrt(3), 1e-9);
  EXPECT_NEAR(three.mean - three.low, 4.303 / std::sqrt(3), 1e-9);
  EXPECT_TRUE(std::isinf(mean_of(std::vector<double>{1}).high));
  EXPECT_TRUE(std::isinf(mean_of({}).low));
}

TEST(MeanOf, ContainsTheTruthInAboutNineteenOfTwentyCases) {
  std::mt19937 random(4);
  std::normal_distribution<double> time(10, 1);
  int contained = 0;
  for (int i = 0; i < 2000; ++i) {
    const interval five = mean_of(
        std::vector<double>{time(random), time(random), time(random), time(random), time(random)});
    contained += five.low <= 10 && 10 <= five.high ? 1 : 0;
  }
  EXPECT_NEAR(contained, 1900, 40);
}

TEST(Compare, WhatIsAlwaysFasterIsSignificant) {
  const difference faster =
      compare(of_times("a", {1.0, 1.1, 0.9}), of_times("b", {0.80, 0.87, 0.73}));
  EXPECT_TRUE(faster.is_significant());
  EXPECT_NEAR(faster.change.mean, -20, 1);
  EXPECT_LT(faster.change.high, 0);
}

TEST(Compare, WhatIsNowFasterNowSlowerIsNot) {
  EXPECT_FALSE(
      compare(of_times("a", {1.0, 1.1, 0.9}), of_times("b", {0.9, 1.2, 0.95})).is_significant());
}

TEST(Compare, OneRoundIsNeverSignificant) {
  const difference once = compare(of_times("a", {1}), of_times("b", {2}));
  EXPECT_NEAR(once.change.mean, 100, 1e-9);
  EXPECT_FALSE(once.is_significant());
}

TEST(Compare, RunsOfARoundAreComparedWithEachOther) {
  // The machine becomes slower from round to round by far more than the two differ.
  EXPECT_TRUE(
      compare(of_times("a", {1, 2, 4}), of_times("b", {0.91, 1.80, 3.62})).is_significant());
}

benchmark_result two_variants() {
  const variant variants[] = {{.name = "slow", .mode = "fixed", .barriers = true, .fixed = true},
                              {.name = "fast", .mode = "adaptive_warm"}};
  std::vector<std::vector<run_report>> runs(2);
  for (const double more : {0.0, 0.1}) {
    runs[0].push_back(make_report(record_of(2, 3 + more, {ran("a", 0, 0, 1), ran("b", 0, 1, 2)})));
    runs[1].push_back(make_report(record_of(2, 2 + more, {ran("a", 0, 0, 1), ran("b", 1, 0, 2)})));
  }
  return summarise(variants, std::move(runs));
}

TEST(Summarise, PutsTimesBoundAndSimulationTogether) {
  const benchmark_result made = two_variants();
  EXPECT_EQ(made.plan, "plan");
  EXPECT_EQ(made.workers, 2U);
  EXPECT_DOUBLE_EQ(made.lower_bound, 2);
  ASSERT_EQ(made.variants.size(), 2U);
  EXPECT_DOUBLE_EQ(made.variants[0].time.mean, 3.05);
  EXPECT_DOUBLE_EQ(made.variants[1].simulated, 2);
  ASSERT_EQ(made.differences.size(), 1U);
  EXPECT_EQ(made.differences[0].second, "fast");
  EXPECT_LT(made.differences[0].change.mean, -30);
}

TEST(BenchmarkFile, HasTheFieldsOfTheSourceAndIsReadBack) {
  const test::temporary_directory directory;
  const benchmark_result made = two_variants();
  const std::string text = to_json(made);
  const auto json = nlohmann::json::parse(text);
  for (const char* const field :
       {"name", "mode", "workers", "total_time", "total_rules", "passed_count", "failed_count",
        "avg_worker_utilization", "min_worker_utilization", "max_worker_utilization",
        "utilization_variance", "overall_efficiency", "total_steals", "steal_percentage",
        "avg_prediction_error", "batch_workers", "batch_times"}) {
    EXPECT_TRUE(json["results"][0].contains(field)) << field;
  }
  directory.write("bench.json", text);
  const auto read = read_benchmark(directory.path("bench.json"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->variants.size(), 2U);
  EXPECT_EQ(read->variants[0].how.name, "slow");
  EXPECT_EQ(read->variants[1].times, made.variants[1].times);
  EXPECT_NEAR(read->variants[0].time.high, made.variants[0].time.high, 1e-6);
  EXPECT_NEAR(read->differences[0].change.mean, made.differences[0].change.mean, 1e-6);
}

TEST(BenchmarkFile, OtherFilesAreRefused) {
  const test::temporary_directory directory;
  const auto problem = [&](std::string_view text) {
    directory.write("x.json", text);
    const auto read = read_benchmark(directory.path("x.json"));
    return read ? std::string("fine") : read.error().message;
  };
  for (const char* const text : {"", "{}", "[]", "null", R"({"version":1})",
                                 R"({"version":1,"plan":"p","workers":-1,"lower_bound":1})",
                                 R"({"version":1,"plan":"p","workers":1,"lower_bound":"x"})",
                                 R"({"version":1,"plan":"p","workers":1,"lower_bound":1e308,)"
                                 R"("results":[],"differences":[]})",
                                 R"({"version":1,"plan":"p","workers":1,"lower_bound":1,)"
                                 R"("results":[{"name":"n","mode":"m","times":[-1],)"
                                 R"("simulated_time":0}],"differences":[]})"}) {
    EXPECT_THAT(problem(text), HasSubstr("this is no file of weft bench")) << text;
  }
  EXPECT_THAT(problem(R"({"version":2})"), HasSubstr("use a newer weft"));
  EXPECT_EQ(read_benchmark(directory.path("missing")).error().kind, error_kind::missing_input);
}

TEST(Replay, EveryPolicyLiesBetweenTheBoundAndTheWork) {
  EXPECT_TRUE(test::holds("replays are possible", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed);
    const run_report report = make_report(record);
    for (const variant& how : all_variants(record)) {
      const double time = replay(record, how);
      RC_ASSERT(time >= report.lower_bound - 1e-9);
      RC_ASSERT(time <= report.work + 1e-9);
    }
  }));
}

TEST(Replay, ThePolicyOfARunReproducesIt) {
  EXPECT_TRUE(test::holds("replay is exact", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed / 5 * 5 + 1);  // not one with barriers
    RC_ASSERT(std::abs(replay(record, {.name = "", .mode = "", .policy = record.policy}) -
                       record.elapsed) < 1e-9);
  }));
}

}  // namespace
}  // namespace weft::batch
