#include <weft/metrics/metrics.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <weft/core/pool.hpp>
#include <weft/exec/executor.hpp>
#include <weft/telemetry/schema.hpp>

#include <metrics/exposition.hpp>
#include <support/watchdog.hpp>

using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

using weft::test::exposition;
using weft::test::parse_exposition;

exposition scrape(weft::metrics& m) { return parse_exposition(m.text()); }

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Metrics, WithoutEntriesAreEmpty) {
  weft::metrics m;
  EXPECT_EQ(m.text(), "");
  m.sample();
}

TEST(Metrics, OfAPoolAreItsStats) {
  weft::metrics m;
  weft::pool pool({.workers = 2});
  const auto entry = m.add("main", pool);
  for (int i = 0; i < 100; ++i) pool.submit([] {}).get();
  pool.shutdown();
  const exposition seen = scrape(m);
  const weft::pool_stats stats = pool.stats();
  EXPECT_EQ(seen.value("weft_scheduler_tasks_spawned_total", {{"scheduler_name", "main"}}), 100);
  EXPECT_EQ(seen.value("weft_scheduler_tasks_completed_total"), 100);
  EXPECT_EQ(seen.value("weft_scheduler_tasks_stolen_total"), static_cast<double>(stats.stolen));
  EXPECT_EQ(seen.value("weft_scheduler_workers_parks_total"), static_cast<double>(stats.parks));
  EXPECT_EQ(seen.value("weft_scheduler_workers_limit"), 2);
  EXPECT_EQ(seen.types.at("weft_scheduler_tasks_spawned_total"), "counter");
  EXPECT_EQ(seen.types.at("weft_scheduler_workers_limit"), "gauge");
  EXPECT_EQ(seen.types.at("weft_scheduler_queue_depth"), "histogram");
}

TEST(Metrics, TellHowManyTasksWaitAndWorkersAreIdle) {
  const weft::test::watchdog guard(60s);
  // Before the pool, which waits for the tasks that use them.
  std::latch running(1);
  std::latch release(1);
  weft::metrics m;
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  pool.spawn([&] {
    running.count_down();
    release.wait();
  });
  running.wait();
  for (int i = 0; i < 7; ++i) pool.spawn([] {});
  const exposition seen = scrape(m);
  release.count_down();
  EXPECT_EQ(seen.value("weft_scheduler_tasks_queued"), 7);
  EXPECT_EQ(seen.value("weft_scheduler_workers_idle"), 0);
  EXPECT_EQ(seen.value("weft_scheduler_queue_depth_bucket", {{"le", "5"}}), 0);
  EXPECT_EQ(seen.value("weft_scheduler_queue_depth_bucket", {{"le", "10"}}), 1);
  EXPECT_EQ(seen.value("weft_scheduler_queue_depth_bucket", {{"le", "+Inf"}}), 1);
  EXPECT_EQ(seen.value("weft_scheduler_queue_depth_sum"), 7);
}

TEST(Metrics, SampleAddsToTheDepthsAtEveryCall) {
  weft::metrics m;
  weft::executor ex({.max_workers = 2});
  const auto entry = m.add("ex", ex);
  for (int i = 0; i < 4; ++i) m.sample();
  EXPECT_EQ(scrape(m).value("weft_scheduler_queue_depth_count"), 5) << "the scrape is the fifth";
}

TEST(Metrics, ProbesMeasureFromReadyToRunning) {
  const weft::test::watchdog guard(60s);
  weft::metrics m;
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  EXPECT_EQ(scrape(m).value("weft_scheduler_task_schedule_latency_seconds_count"), 0);
  m.sample();
  pool.shutdown();  // drains
  const exposition seen = scrape(m);
  EXPECT_EQ(seen.value("weft_scheduler_task_schedule_latency_seconds_count"), 1);
  EXPECT_GT(seen.value("weft_scheduler_task_schedule_latency_seconds_sum"), 0);
}

TEST(Metrics, SamplesThatAreDueWhileAProbeWaitsCountToo) {
  const weft::test::watchdog guard(60s);
  // Before the pool, which waits for the tasks that use them.
  std::latch running(1);
  std::latch release(1);
  weft::metrics m;
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  pool.spawn([&] {
    running.count_down();
    release.wait();
  });
  running.wait();
  for (int i = 0; i < 3; ++i) m.sample();
  const exposition stuck = scrape(m);
  release.count_down();
  pool.shutdown();
  EXPECT_EQ(stuck.value("weft_scheduler_task_schedule_latency_seconds_count"), 0);
  EXPECT_EQ(stuck.value("weft_scheduler_tasks_queued"), 1) << "one probe, not three";
  EXPECT_EQ(scrape(m).value("weft_scheduler_task_schedule_latency_seconds_count"), 3);
}

TEST(Metrics, ProbesOfAPoolThatHasEndedMeasureNothing) {
  weft::metrics m;
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  pool.shutdown(weft::shutdown_mode::cancel);
  m.sample();
  m.sample();
  EXPECT_EQ(scrape(m).value("weft_scheduler_task_schedule_latency_seconds_count"), 0);
}

TEST(Metrics, ProbesDoNotWaitForRoomInAFullPool) {
  const weft::test::watchdog guard(60s);
  // Before the pool, which waits for the tasks that use them.
  std::latch running(1);
  std::latch release(1);
  weft::metrics m;
  weft::pool pool({.workers = 1, .max_pending = 1, .overflow = weft::when_full::block});
  const auto entry = m.add("main", pool);
  pool.spawn([&] {
    running.count_down();
    release.wait();
  });
  running.wait();
  pool.spawn([] {});
  m.sample();  // would wait for ever
  release.count_down();
}

TEST(Metrics, OfAnExecutorAreItsStats) {
  weft::metrics m;
  weft::executor ex({.max_workers = 4, .min_workers = 2, .sizing = weft::sizing_policy::fixed});
  const auto entry = m.add("ex", ex);
  for (int i = 0; i < 10; ++i) ex.submit([] {}).get();
  ex.shutdown();
  const exposition seen = scrape(m);
  EXPECT_EQ(seen.value("weft_executor_workers_current", {{"executor_name", "ex"}}), 4);
  EXPECT_EQ(seen.value("weft_executor_workers_min"), 2);
  EXPECT_EQ(seen.value("weft_executor_workers_max"), 4);
  EXPECT_EQ(seen.value("weft_executor_items_completed_total"), 10);
  EXPECT_EQ(seen.value("weft_executor_tasks_unfinished"), 0);
  EXPECT_EQ(seen.value("weft_executor_memory_short"), 0);
  EXPECT_EQ(seen.value("weft_scheduler_tasks_spawned_total", {{"scheduler_name", "ex"}}), 10);
}

TEST(Metrics, OfAnExecutorOnSomebodysPoolLeaveThePoolOut) {
  weft::metrics m;
  weft::pool pool({.workers = 2});
  weft::executor ex(pool);
  const auto entry = m.add("ex", ex);
  const exposition seen = scrape(m);
  EXPECT_EQ(seen.value("weft_executor_workers_current"), 2);
  EXPECT_FALSE(seen.value("weft_scheduler_workers_limit").has_value());
}

TEST(Metrics, OfAPolicyAreItsDecisions) {
  weft::metrics m;
  auto meter = m.add_policy("jobs");
  EXPECT_EQ(m.text(), "") << "nothing was decided yet";
  weft::decision made;
  made.limit = 3;
  made.target = 5;
  made.zone = weft::health_zone::warning;
  made.reason = weft::decision_reason::health_warning;
  made.gate = weft::move_gate::up;
  made.events.push({.kind = weft::adapt::event_kind::score_changed});
  meter.record(made, 42);
  meter.record(made, std::nan(""));
  meter.record(made, 101);
  const exposition seen = scrape(m);
  EXPECT_EQ(seen.value("weft_policy_limit", {{"policy_name", "jobs"}}), 3);
  EXPECT_EQ(seen.value("weft_policy_target"), 5);
  EXPECT_EQ(seen.value("weft_policy_score"), 42);
  EXPECT_EQ(seen.value("weft_policy_zone_active", {{"policy_zone", "warning"}}), 1);
  EXPECT_EQ(seen.value("weft_policy_zone_active", {{"policy_zone", "safe"}}), 0);
  EXPECT_EQ(seen.value("weft_policy_decisions_total",
                       {{"policy_reason", "health_warning"}, {"policy_gate", "up"}}),
            3);
  EXPECT_EQ(seen.value("weft_policy_events_total", {{"policy_event", "score_changed"}}), 3);
}

TEST(Metrics, OfASizingPolicyHaveNoZone) {
  weft::metrics m;
  auto meter = m.add_policy("size");
  meter.record(weft::adapt::sizing{.workers = 6, .reason = weft::adapt::sizing_reason::growing});
  const exposition seen = scrape(m);
  EXPECT_EQ(seen.value("weft_policy_limit"), 6);
  EXPECT_EQ(seen.value("weft_policy_decisions_total", {{"policy_reason", "growing"}}), 1);
  EXPECT_FALSE(seen.types.contains("weft_policy_zone_active"));
}

TEST(Metrics, HavePrefixAndLabelsAsAsked) {
  weft::metrics m({.prefix = "shop", .labels = {{.name = "region", .value = "a \"b\" \\ c"}}});
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  EXPECT_EQ(scrape(m).value("shop_scheduler_workers_limit", {{"region", "a \"b\" \\ c"}}), 1);

  weft::metrics bare({.prefix = ""});
  const auto again = bare.add("main", pool);
  EXPECT_EQ(scrape(bare).value("scheduler_workers_limit"), 1);
}

TEST(Metrics, NamesMayBeAnyText) {
  weft::metrics m;
  weft::pool pool({.workers = 1});
  const std::string name = "Zwölf \"große\" \\ Bäume";
  const auto entry = m.add(name, pool);
  EXPECT_EQ(scrape(m).value("weft_scheduler_workers_limit", {{"scheduler_name", name}}), 1);
}

TEST(Metrics, RemovedEntriesAreGone) {
  weft::metrics m;
  auto pool = std::make_unique<weft::pool>(weft::pool_options{.workers = 1});
  weft::pool other({.workers = 1});
  auto entry = m.add("one", *pool);
  const auto stays = m.add("two", other);
  entry.remove();
  entry.remove();
  pool.reset();
  const exposition seen = scrape(m);
  EXPECT_FALSE(seen.value("weft_scheduler_workers_limit", {{"scheduler_name", "one"}}).has_value());
  EXPECT_TRUE(seen.value("weft_scheduler_workers_limit", {{"scheduler_name", "two"}}).has_value());
}

TEST(Metrics, EntriesMoveAndTheOneMovedOverIsRemoved) {
  weft::metrics m;
  weft::pool pool({.workers = 1});
  auto a = m.add("a", pool);
  auto b = m.add("b", pool);
  a = std::move(b);
  const exposition seen = scrape(m);
  EXPECT_FALSE(seen.value("weft_scheduler_workers_limit", {{"scheduler_name", "a"}}).has_value());
  EXPECT_TRUE(seen.value("weft_scheduler_workers_limit", {{"scheduler_name", "b"}}).has_value());
}

TEST(Metrics, EntriesAndMetersMayOutliveThem) {
  weft::pool pool({.workers = 1});
  auto m = std::make_unique<weft::metrics>();
  auto entry = m->add("main", pool);
  auto meter = m->add_policy("size");
  m.reset();
  meter.record(weft::adapt::sizing{});
  entry.remove();
}

TEST(Metrics, ANameThatWasRemovedBeginsAtZero) {
  weft::metrics m;
  for (int round = 0; round < 2; ++round) {
    weft::pool pool({.workers = 1});
    const auto entry = m.add("main", pool);
    for (int i = 0; i < 5; ++i) pool.submit([] {}).get();
    EXPECT_EQ(scrape(m).value("weft_scheduler_tasks_spawned_total"), 5);
  }
}

TEST(Metrics, CountersNeverFallWhileOthersWork) {
  const weft::test::watchdog guard(60s);
  weft::metrics m;
  weft::pool pool({.workers = 2});
  const auto entry = m.add("main", pool);
  std::jthread work([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) pool.submit([] {}).get();
  });
  std::map<std::string, double> before;
  for (int i = 0; i < 200; ++i) {
    const exposition seen = scrape(m);
    for (const auto& [name, type] : seen.types) {
      if (type != "counter") continue;
      const double now = seen.value(name).value();
      EXPECT_GE(now, before[name]) << name;
      before[name] = now;
    }
  }
  EXPECT_GT(before.at("weft_scheduler_tasks_spawned_total"), 0);
}

TEST(Metrics, ServersOfPrometheusCppGetTheSame) {
  weft::metrics m;
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  const std::vector<prometheus::MetricFamily> families = m.collectable()->Collect();
  EXPECT_EQ(families.size(), scrape(m).types.size());
  EXPECT_EQ(families.front().name, "weft_scheduler_tasks_spawned_total");
}

TEST(Metrics, ReadAsValuesHaveTheNamesOfTheSchema) {
  using weft::telemetry::metric_histogram;
  weft::metrics m({.labels = {{.name = "region", .value = "north"}}});
  weft::pool pool({.workers = 1});
  const auto entry = m.add("main", pool);
  for (int i = 0; i < 5; ++i) pool.submit([] {}).get();
  const std::vector<weft::telemetry::metric_values> values = m.read();
  EXPECT_EQ(values.size(), scrape(m).types.size());

  const auto& spawned = values.front();
  EXPECT_EQ(spawned.metric, &weft::telemetry::metric::scheduler_tasks_spawned);
  ASSERT_EQ(spawned.points.size(), 1U);
  const auto& attributes = spawned.points.front().attributes;
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_EQ(attributes[0].name, "scheduler.name");
  EXPECT_EQ(attributes[0].value, "main");
  EXPECT_EQ(attributes[1].name, "region");
  EXPECT_EQ(attributes[1].value, "north");
  EXPECT_EQ(std::get<std::int64_t>(spawned.points.front().value), 5);

  const auto depth = std::ranges::find(values, &weft::telemetry::metric::scheduler_queue_depth,
                                       &weft::telemetry::metric_values::metric);
  ASSERT_NE(depth, values.end());
  const auto& depths = std::get<metric_histogram>(depth->points.front().value);
  EXPECT_EQ(depths.counts.size(), depths.bounds.size() + 1);
  EXPECT_EQ(std::reduce(depths.counts.begin(), depths.counts.end()), 1U);
}

// When counting began, of a metric that one entry has.
auto since(weft::metrics& m, const weft::telemetry::metric_schema& metric) {
  const auto values = m.read();
  return std::ranges::find(values, &metric, &weft::telemetry::metric_values::metric)
      ->points.at(0)
      .since;
}

TEST(Metrics, ReadAsValuesCountFromWhenTheyWereZero) {
  namespace metric = weft::telemetry::metric;
  using clock = std::chrono::system_clock;
  weft::metrics m;
  const auto before = clock::now();
  weft::pool pool({.workers = 1});
  weft::executor ex({.max_workers = 2});
  const auto made = clock::now();
  pool.submit([] {}).get();
  ex.submit([] {}).get();
  const auto added = clock::now();
  for (int i = 0; i < 2; ++i) {
    const auto entry = m.add("main", pool);
    EXPECT_GE(since(m, metric::scheduler_tasks_spawned), before);
    EXPECT_LE(since(m, metric::scheduler_tasks_spawned), made) << "what was counted is older";
    EXPECT_GE(since(m, metric::scheduler_queue_depth), added) << "nobody has looked before";
  }
  const auto entry = m.add("ex", ex);
  EXPECT_GE(since(m, metric::executor_items_completed), before);
  EXPECT_LE(since(m, metric::executor_items_completed), made);
  EXPECT_LE(since(m, metric::scheduler_tasks_spawned), made);
}

TEST(Metrics, ReadAsValuesTellThatANameIsUsedAgainByAnother) {
  weft::metrics m;
  const auto began = [&] {
    weft::pool pool({.workers = 1});
    const auto entry = m.add("main", pool);
    return since(m, weft::telemetry::metric::scheduler_tasks_spawned);
  };
  const auto first = began();
  EXPECT_GT(first.time_since_epoch().count(), 0);
  EXPECT_GT(began(), first);
}

TEST(MetricNames, ThatAreTakenAreRefusedWhateverHasThem) {
  weft::metrics m;
  weft::pool pool({.workers = 1});
  weft::executor ex({.max_workers = 2});
  const auto entry = m.add("main", pool);
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add("main", pool)); }), HasSubstr("is taken"));
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add("main", ex)); }), HasSubstr("is taken"));
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add_policy("main")); }),
              HasSubstr("choose another, or remove"));
}

TEST(MetricNames, ThatNobodyCouldReadAreRefused) {
  weft::metrics m;
  weft::pool pool({.workers = 1});
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add("", pool)); }), HasSubstr("is empty"));
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add("a\nb", pool)); }), HasSubstr("\"a\\nb\""));
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add("\xff", pool)); }), HasSubstr("give UTF-8"));
  EXPECT_THAT(refusal([&] { static_cast<void>(m.add(std::string(201, 'x'), pool)); }),
              HasSubstr("has 201 bytes; give at most 200"));
  EXPECT_EQ(m.text(), "") << "what was refused is not there";
}

TEST(MetricNames, PrefixesThatPrometheusWouldNotTakeAreRefused) {
  for (const std::string bad :
       {"my-service", "9lives", "a.b", "a b", "w\xc3\xa4rme", "x_", "a\n"}) {
    EXPECT_THAT(refusal([&] { weft::metrics m({.prefix = bad}); }),
                HasSubstr("such as \"my_service\""))
        << bad;
  }
}

TEST(MetricNames, LabelsThatPrometheusWouldNotTakeAreRefused) {
  const auto with = [](std::vector<weft::metric_label> labels) {
    return refusal([&] { weft::metrics m({.labels = labels}); });
  };
  EXPECT_THAT(with({{"a-b", "x"}}), HasSubstr("\"a-b\" is none for Prometheus"));
  EXPECT_THAT(with({{"", "x"}}), HasSubstr("is none for Prometheus"));
  EXPECT_THAT(with({{"__name__", "x"}}), HasSubstr("leave them out"));
  EXPECT_THAT(with({{"le", "x"}}), HasSubstr("has a meaning in histograms"));
  EXPECT_THAT(with({{"a", "x"}, {"a", "y"}}), HasSubstr("\"a\" twice"));
  EXPECT_THAT(with({{"a", "\x1b[2J"}}), HasSubstr("\\x1b[2J"));
}

TEST(MetricNames, LabelsOfTheSchemaAreRefused) {
  for (const weft::telemetry::metric_schema* metric : weft::telemetry::metric::all) {
    std::string label(metric->attributes[0]);
    std::ranges::replace(label, '.', '_');
    EXPECT_THAT(refusal([&] { weft::metrics m({.labels = {{label, "x"}}}); }),
                HasSubstr("Weft's own metrics"))
        << label;
  }
}

TEST(Metrics, HaveALimit) {
  weft::metrics m;
  std::vector<weft::policy_meter> meters;
  for (std::size_t i = 0; i < weft::metrics::entries_max; ++i) {
    meters.push_back(m.add_policy(std::to_string(i)));
  }
  EXPECT_THROW(static_cast<void>(m.add_policy("one more")), std::length_error);
  meters.pop_back();
  EXPECT_NO_THROW(static_cast<void>(m.add_policy("one more")));
}

TEST(Metrics, AreScrapedWhileThingsAreAddedUsedAndDestroyed) {
  const weft::test::watchdog guard(120s);
  weft::metrics m;
  std::latch start(5);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < 40; ++i) {
        weft::pool pool({.workers = 2});
        const auto entry = m.add("pool " + std::to_string(t), pool);
        for (int n = 0; n < 20; ++n) pool.spawn([] {});
        m.sample();
      }
    });
  }
  threads.emplace_back([&] {
    start.arrive_and_wait();
    for (int i = 0; i < 10; ++i) {
      weft::executor ex({.max_workers = 2});
      const auto entry = m.add("ex", ex);
      for (int n = 0; n < 20; ++n) ex.submit([] {}).get();
    }
  });
  threads.emplace_back([&] {
    start.arrive_and_wait();
    for (int i = 0; i < 200; ++i) {
      auto meter = m.add_policy("policy");
      meter.record(weft::decision{});
    }
  });
  start.arrive_and_wait();
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(static_cast<void>(scrape(m)));
  threads.clear();
  EXPECT_EQ(m.text(), "") << "everything was removed";
}

}  // namespace
