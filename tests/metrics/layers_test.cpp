// Metrics of the layers that can be left out: the hybrid scheduler and the batch runner.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <weft/batch/plan.hpp>
#include <weft/batch/runner.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/metrics/metrics.hpp>

#include <metrics/exposition.hpp>
#include <support/watchdog.hpp>

using namespace std::chrono_literals;

namespace {

using weft::test::exposition;

exposition scrape(weft::metrics& m) { return weft::test::parse_exposition(m.text()); }

TEST(HybridMetrics, AreItsStats) {
  const weft::test::watchdog guard(60s);
  weft::metrics m;
  weft::hybrid_scheduler hs({.cpu_workers = 2});
  const auto entry = m.add("server", hs);
  std::latch running(1);
  std::latch release(1);
  auto blocked = hs.spawn_blocking([&] {
    running.count_down();
    release.wait();
  });
  running.wait();
  hs.spawn([] {}).get();
  const exposition seen = scrape(m);
  release.count_down();
  blocked.get();
  EXPECT_EQ(seen.value("weft_hybrid_tasks_spawned_total", {{"scheduler_name", "server"}}), 2);
  EXPECT_EQ(seen.value("weft_hybrid_io_threads"), 1);
  EXPECT_EQ(seen.value("weft_hybrid_blocking_jobs_running"), 1);
  EXPECT_EQ(seen.value("weft_hybrid_blocking_threads_live"), 1);
  EXPECT_EQ(seen.value("weft_hybrid_blocking_threads_started_total"), 1);
  EXPECT_EQ(seen.value("weft_scheduler_workers_limit", {{"scheduler_name", "server"}}), 2);
}

TEST(HybridMetrics, CountFromWhenItWasMade) {
  weft::metrics m;
  weft::hybrid_scheduler hs({.cpu_workers = 1});
  const auto made = std::chrono::system_clock::now();
  hs.spawn([] {}).get();
  const auto entry = m.add("server", hs);
  for (const auto& values : m.read()) {
    const auto kind = values.metric->kind;
    if (kind == weft::telemetry::instrument::histogram) continue;  // those begin with the entry
    EXPECT_LE(values.points.at(0).since, made) << values.metric->name;
  }
}

weft::plan three_rules() {
  weft::plan p;
  p.add({.id = "good", .run = [] { return true; }});
  p.add({.id = "bad", .run = [] { return false; }});
  p.add({.id = "after", .after = {"bad"}, .run = [] {}});
  return p;
}

TEST(BatchMetrics, CountRulesByTheirOutcome) {
  weft::metrics m;
  const auto meter = m.add_batch("nightly");
  EXPECT_EQ(scrape(m).value("weft_batch_runs_started_total", {{"batch_name", "nightly"}}), 0);
  for (int i = 0; i < 2; ++i) {
    weft::run(three_rules(), {.workers = 2, .on_event = meter.listener()});
  }
  const exposition seen = scrape(m);
  const auto finished = [&](const char* outcome) {
    return seen.value("weft_batch_rules_finished_total", {{"batch_rule_outcome", outcome}});
  };
  EXPECT_EQ(seen.value("weft_batch_runs_started_total"), 2);
  EXPECT_EQ(finished("passed"), 2);
  EXPECT_EQ(finished("failed"), 2);
  EXPECT_EQ(finished("skipped"), 2);
  EXPECT_EQ(finished("flaky"), 0);
  EXPECT_EQ(seen.value("weft_batch_rules_running"), 0);
  EXPECT_EQ(seen.value("weft_batch_rules_waiting"), 0);
  EXPECT_EQ(seen.value("weft_batch_rule_duration_seconds_count"), 4);
}

TEST(BatchMetrics, TellWhatRunsAndWhatWaits) {
  weft::metrics m;
  const auto meter = m.add_batch("nightly");
  exposition inside;
  weft::plan p;
  p.add({.id = "first", .run = [&] { inside = scrape(m); }});
  p.add({.id = "second", .after = {"first"}, .run = [] {}});
  weft::run(p, {.workers = 1, .on_event = meter.listener()});
  EXPECT_EQ(inside.value("weft_batch_rules_running"), 1);
  EXPECT_EQ(inside.value("weft_batch_rules_waiting"), 1);
}

TEST(BatchMetrics, OfRunsAtTheSameTimeAddUp) {
  weft::metrics m;
  const auto meter = m.add_batch("nightly");
  exposition inside;
  weft::plan inner;
  inner.add({.id = "a", .run = [&] { inside = scrape(m); }});
  inner.add({.id = "b", .after = {"a"}, .run = [] {}});
  weft::plan outer;
  outer.add({.id = "run",
             .run = [&] { weft::run(inner, {.workers = 1, .on_event = meter.listener()}); }});
  outer.add({.id = "next", .after = {"run"}, .run = [] {}});
  outer.add({.id = "last", .after = {"next"}, .run = [] {}});
  weft::run(outer, {.workers = 1, .on_event = meter.listener()});
  EXPECT_EQ(inside.value("weft_batch_rules_running"), 2);
  EXPECT_EQ(inside.value("weft_batch_rules_waiting"), 3);
}

TEST(BatchMetrics, NothingWaitsInARunThatEndsEarly) {
  weft::metrics m;
  const auto meter = m.add_batch("nightly");
  const auto listener = meter.listener();
  weft::plan p;
  p.add({.id = "bad", .run = [] { return false; }});
  for (const char* id : {"x", "y", "z"}) p.add({.id = id, .run = [] {}});
  const auto report = weft::run(p, {.workers = 1, .fail_fast = true, .on_event = listener});
  EXPECT_EQ(report.waiting_count, 3U);
  EXPECT_EQ(scrape(m).value("weft_batch_rules_waiting"), 0);
}

TEST(BatchMetrics, CountAttemptsThatWereRepeated) {
  weft::metrics m;
  const auto meter = m.add_batch("nightly");
  int attempts = 0;
  weft::plan p;
  p.add({.id = "flaky", .run = [&] { return ++attempts == 3; }, .retries = 3});
  weft::run(p, {.workers = 1, .on_event = meter.listener()});
  const exposition seen = scrape(m);
  EXPECT_EQ(seen.value("weft_batch_attempts_repeated_total"), 2);
  EXPECT_EQ(seen.value("weft_batch_rules_finished_total", {{"batch_rule_outcome", "flaky"}}), 1);
  EXPECT_EQ(seen.value("weft_batch_rules_running"), 0);
  EXPECT_EQ(seen.value("weft_batch_rules_waiting"), 0);
}

TEST(BatchMetrics, ListenersMayOutliveTheMeter) {
  auto m = std::make_unique<weft::metrics>();
  auto listener = m->add_batch("nightly").listener();
  EXPECT_EQ(m->text(), "");
  m.reset();
  EXPECT_FALSE(weft::run(three_rules(), {.workers = 1, .on_event = listener}).passed());
}

TEST(LayerMetrics, AreScrapedWhileThingsAreUsedAndDestroyed) {
  const weft::test::watchdog guard(120s);
  weft::metrics m;
  std::latch start(3);
  std::jthread schedulers([&] {
    start.arrive_and_wait();
    for (int i = 0; i < 10; ++i) {
      weft::hybrid_scheduler hs({.cpu_workers = 2});
      const auto entry = m.add("server", hs);
      hs.spawn([] {}).get();
      m.sample();
    }
  });
  std::jthread batches([&] {
    start.arrive_and_wait();
    for (int i = 0; i < 10; ++i) {
      const auto meter = m.add_batch("nightly");
      weft::run(three_rules(), {.workers = 2, .on_event = meter.listener()});
    }
  });
  start.arrive_and_wait();
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(static_cast<void>(scrape(m)));
  schedulers.join();
  batches.join();
  EXPECT_EQ(m.text(), "");
}

}  // namespace
