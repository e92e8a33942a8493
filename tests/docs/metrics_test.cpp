// The code of docs/guide/metrics.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weft/adapt/policy/health_zones.hpp>
#include <weft/batch/plan.hpp>
#include <weft/batch/runner.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/exec/executor.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/metrics/metrics.hpp>

using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

// [metrics-server]
struct server {
  weft::hybrid_scheduler scheduler;
  weft::executor thumbnails;
  weft::metrics metrics;
  weft::metrics_entry scheduler_entry = metrics.add("server", scheduler);
  weft::metrics_entry thumbnails_entry = metrics.add("thumbnails", thumbnails);
};
// [/metrics-server]

TEST(MetricsGuide, EntriesAreMadeAfterWhatTheyAreAbout) {
  server s;
  EXPECT_THAT(s.metrics.text(), HasSubstr("weft_hybrid_tasks_live{scheduler_name=\"server\"} 0"));
  EXPECT_THAT(s.metrics.text(),
              HasSubstr("weft_executor_workers_max{executor_name=\"thumbnails\"}"));
}

TEST(MetricsGuide, BatchesAndPoliciesAreTold) {
  weft::metrics metrics;
  weft::plan plan;
  plan.add({.id = "lint", .run = [] { return true; }});
  // [metrics-batch]
  auto nightly = metrics.add_batch("nightly");
  weft::run(plan, {.workers = 2, .on_event = nightly.listener()});
  // [/metrics-batch]
  weft::health_zones policy({.min = 1, .max = 10});
  const weft::health_reading reading{.score = 80};
  const weft::adapt::time_point now{};
  // [metrics-policy]
  auto limits = metrics.add_policy("jobs");
  limits.record(policy.poll(reading, now), reading.score);
  // [/metrics-policy]
  EXPECT_THAT(metrics.text(), HasSubstr("batch_rule_outcome=\"passed\"} 1"));
  EXPECT_THAT(metrics.text(), HasSubstr("weft_policy_score{policy_name=\"jobs\"} 80"));
}

// [metrics-sampler]
weft::task<> sample_often(weft::metrics& metrics) {
  for (;;) {
    metrics.sample();
    co_await weft::sleep_for(100ms);
  }
}
// [/metrics-sampler]

TEST(MetricsGuide, ATimerSamples) {
  weft::metrics metrics;
  weft::hybrid_scheduler hs;
  const auto entry = metrics.add("server", hs);
  auto sampler = hs.spawn(sample_often(metrics));
  sampler.request_stop();
  EXPECT_THROW(sampler.get(), weft::cancelled);
  EXPECT_THAT(metrics.text(), HasSubstr("weft_scheduler_queue_depth_count"));
}

}  // namespace
