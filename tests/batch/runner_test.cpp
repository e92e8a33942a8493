#include <weft/batch/runner.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <latch>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/batch/event_log.hpp>
#include <weft/core/join.hpp>
#include <weft/core/parallel/for.hpp>

#include <batch/plans.hpp>
#include <support/temporary_directory.hpp>
#include <support/watchdog.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Runner : public ::testing::Test {
 protected:
  test::watchdog watchdog_{60s};
  std::stop_source ending_;

  // What ran, in the order in which it began.
  std::vector<std::string> ran() {
    const std::lock_guard lock(mutex_);
    return ran_;
  }
  rule noting(std::string id, std::vector<std::string> after = {}) {
    return {.id = std::move(id), .after = std::move(after), .run = [this](rule_context& context) {
              const std::lock_guard lock(mutex_);
              ran_.emplace_back(context.id());
            }};
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> ran_;
};

constexpr int digits[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

rule_status status_of(const run_report& report, std::string_view id) {
  return std::ranges::find(report.record.rules, id, &rule_record::id)->status;
}

TEST_F(Runner, RunsEveryRuleAfterWhatItComesAfter) {
  plan p;
  p.add(noting("c", {"b"})).add(noting("b", {"a"})).add(noting("a"));
  const run_report report = run(p, {.workers = 4});
  EXPECT_THAT(ran(), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.passed_count, 3U);
  EXPECT_EQ(report.record.ending, run_ending::complete);
}

TEST_F(Runner, ABodyMayReturnNothingABoolOrAResult) {
  plan p;
  p.add({.id = "nothing", .run = [] {}});
  p.add({.id = "true", .run = [] { return true; }});
  p.add({.id = "false", .run = [](rule_context& c) {
           c.print("looked everywhere\n");
           return false;
         }});
  p.add({.id = "result", .run = [](rule_context&) { return fail_rule("two are missing"); }});
  p.add({.id = "throws", .run = [] { throw std::runtime_error("no such thing"); }});
  p.add({.id = "odd", .run = [] { throw 7; }});
  const run_report report = run(p, {.workers = 2});
  const auto& rules = report.record.rules;
  EXPECT_EQ(report.passed_count, 2U);
  EXPECT_EQ(report.failed_count, 4U);
  EXPECT_EQ(rules[2].output, "looked everywhere\n");
  EXPECT_EQ(rules[3].message, "two are missing");
  EXPECT_EQ(rules[4].message, "no such thing");
  EXPECT_EQ(rules[5].message, "threw something that is no std::exception");
  EXPECT_FALSE(report.passed());
}

TEST_F(Runner, FindingsAreInTheReportAndInTheLog) {
  test::temporary_directory files;
  files.write("d/a.txt", "TODO\n");
  plan p;
  p.set_directory(files.path());
  p.add({.id = "check", .check = batch::lacks{"TODO", "*.txt"}, .cwd = "d"});
  p.add({.id = "own", .run = [](rule_context&) {
           return rule_result{
               .passed = false,
               .message = "many",
               .findings = std::vector<finding>(findings_max + 1, {.file = "b.txt"})};
         }});
  const run_report report = run(p, {.workers = 1, .log_directory = files.path("runs")});
  const auto& rules = report.record.rules;
  // By the name that it has where the plan happens, not where the rule does.
  EXPECT_THAT(rules[0].findings,
              ElementsAre(finding{.file = "d/a.txt", .line = 1, .message = "has TODO"}));
  EXPECT_EQ(rules[1].findings.size(), findings_max);
  const auto read = batch::read_run(batch::list_runs(files.path("runs")).at(0));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->record.rules[0].findings, rules[0].findings);
}

TEST_F(Runner, WhatComesAfterAFailureIsSkippedAndNamesIt) {
  plan p;
  p.add({.id = "bad", .run = [] { return false; }});
  p.add(noting("next", {"bad"})).add(noting("last", {"next"})).add(noting("free"));
  const run_report report = run(p, {.workers = 2});
  EXPECT_THAT(ran(), ElementsAre("free"));
  EXPECT_EQ(status_of(report, "last"), rule_status::skipped);
  EXPECT_EQ(report.record.rules[2].skipped_for, "bad");
  EXPECT_EQ(report.skipped_count, 2U);
}

TEST_F(Runner, AWarningLetsOthersRun) {
  plan p;
  p.add({.id = "bad", .run = [] { return false; }, .severity = severity::warn});
  p.add(noting("next", {"bad"}));
  const run_report report = run(p, {.workers = 2});
  EXPECT_THAT(ran(), ElementsAre("next"));
  EXPECT_EQ(status_of(report, "bad"), rule_status::warned);
  EXPECT_TRUE(report.passed());
}

TEST_F(Runner, FailFastBeginsNothingAfterAFailure) {
  plan p;
  p.add({.id = "bad", .run = [] { return false; }, .cost = 1h});
  p.add(noting("small"));
  const run_report report = run(p, {.workers = 1, .fail_fast = true});
  EXPECT_TRUE(ran().empty());
  EXPECT_EQ(report.waiting_count, 1U);
  EXPECT_EQ(report.record.ending, run_ending::failed_fast);
}

TEST_F(Runner, ARuleThatPassesOnlyWhenRepeatedIsFlaky) {
  plan p;
  p.add({.id = "flaky",
         .run = [](rule_context& c) { return c.attempt() < 3 ? fail_rule("not yet") : pass(); },
         .retries = 5,
         .retry_delay = 1ms});
  p.add({.id = "hopeless", .run = [] { return false; }, .retries = 2, .retry_delay = 1ms});
  p.add(noting("next", {"flaky"}));
  const run_report report = run(p, {.workers = 1});
  const auto& rules = report.record.rules;
  EXPECT_EQ(rules[0].status, rule_status::flaky);
  EXPECT_EQ(rules[0].attempts, 3U);
  EXPECT_EQ(rules[0].earlier.size(), 2U);
  EXPECT_EQ(rules[0].message, "not yet");
  EXPECT_EQ(rules[1].status, rule_status::failed);
  EXPECT_EQ(rules[1].attempts, 3U);
  EXPECT_THAT(ran(), ElementsAre("next"));
  EXPECT_EQ(report.flaky_count, 1U);
}

// Returns when it is told to stop.
void until_stopped(rule_context& context) {
  std::latch stopped(1);
  const std::stop_callback tell(context.stop(), [&] { stopped.count_down(); });
  stopped.wait();
}

TEST_F(Runner, AFunctionWhoseTimeIsUpIsToldToStop) {
  plan p;
  p.add({.id = "slow", .run = until_stopped, .timeout = 5ms});
  p.add(noting("other"));
  const run_report report = run(p, {.workers = 1});
  EXPECT_EQ(status_of(report, "slow"), rule_status::timed_out);
  EXPECT_THAT(report.record.rules[0].message, HasSubstr("timed out"));
  EXPECT_THAT(ran(), ElementsAre("other"));
}

TEST_F(Runner, ARunWhoseTimeIsUpEnds) {
  plan p;
  p.add({.id = "slow", .run = until_stopped});
  p.add(noting("after", {"slow"}));
  const run_report report = run(p, {.workers = 1, .timeout = 500ms});  // "slow" has begun by then
  EXPECT_EQ(report.record.ending, run_ending::out_of_time);
  EXPECT_TRUE(ran().empty());
  EXPECT_EQ(report.waiting_count, 1U);
}

TEST_F(Runner, TheTimeOfARunIsUpAlsoWhenItIsEndingAlready) {
  plan p;
  p.add({.id = "slow", .command = {"sleep", "1000"}}).add({.id = "bad", .command = {"false"}});
  const run_report report = run(p, {.workers = 2, .fail_fast = true, .timeout = 2s});
  EXPECT_EQ(report.record.ending, run_ending::failed_fast);
  EXPECT_EQ(status_of(report, "bad"), rule_status::failed);
  EXPECT_EQ(status_of(report, "slow"), rule_status::waiting);  // killed
}

TEST_F(Runner, AListenerMayEndTheRun) {
  std::stop_source finish;
  std::stop_source stop;
  plan p;
  p.add(noting("a")).add(noting("b", {"a"})).add({.id = "c", .after = {"b"}, .shell = ":"});
  run_options options{.workers = 2, .finish = finish.get_token(), .stop = stop.get_token()};
  options.on_event = [&](const run_event& event) {
    if (event.what == run_event::kind::finished) finish.request_stop();
    if (event.what == run_event::kind::ending) stop.request_stop();
  };
  const run_report report = run(p, options);
  EXPECT_EQ(report.record.ending, run_ending::interrupted);
  EXPECT_THAT(ran(), ElementsAre("a"));
}

TEST_F(Runner, AskedToFinishItLetsWhatRunsEnd) {
  std::stop_source finish;
  plan p;
  p.add({.id = "running", .run = [&] { finish.request_stop(); }, .cost = 1h});
  p.add(noting("waiting"));
  const run_report report = run(p, {.workers = 1, .finish = finish.get_token()});
  EXPECT_EQ(status_of(report, "running"), rule_status::passed);
  EXPECT_EQ(status_of(report, "waiting"), rule_status::waiting);
  EXPECT_EQ(report.record.ending, run_ending::interrupted);
}

TEST_F(Runner, TheTimeThatIsLeftCountsADelayBeforeTheNextAttempt) {
  plan p;
  p.add({.id = "again", .run = [] { return false; }, .retries = 1, .retry_delay = 1h});
  run_options options{.workers = 1, .stop = ending_.get_token()};
  options.tick = 1ms;
  options.on_event = [&](const run_event& event) {
    if (event.what == run_event::kind::tick && event.remaining > 3000) ending_.request_stop();
  };
  EXPECT_EQ(run(p, options).record.ending, run_ending::interrupted);
}

TEST_F(Runner, TheTimeThatIsLeftIsThatOfWhatRunsOnceTheRunIsEnding) {
  std::latch let_go(1);
  plan p;
  p.add({.id = "running", .run = [&] { let_go.wait(); }, .cost = 2h});
  p.add({.id = "waiting", .after = {"running"}, .run = [] {}, .cost = 2h});
  run_options options{.workers = 1, .finish = ending_.get_token()};
  options.tick = 1ms;
  std::vector<double> remaining;
  options.on_event = [&](const run_event& event) {
    if (event.what != run_event::kind::tick) return;
    const double hours = std::round(event.remaining / 3600);
    if (remaining.empty() || remaining.back() != hours) remaining.push_back(hours);
    if (hours == 4) ending_.request_stop();
    if (hours == 2 && !let_go.try_wait()) let_go.count_down();
  };
  run(p, options);
  EXPECT_THAT(remaining, ElementsAre(4, 2));  // from the first tick on
}

TEST_F(Runner, AskedToStopItTellsWhatRuns) {
  std::stop_source stop;
  plan p;
  p.add({.id = "running", .run = [&](rule_context& context) {
           stop.request_stop();
           until_stopped(context);
         }});
  const run_report report = run(p, {.workers = 1, .stop = stop.get_token()});
  EXPECT_EQ(report.record.ending, run_ending::interrupted);
}

TEST_F(Runner, AFunctionThatGivesUpBecauseItIsStoppedCountsAsNotRun) {
  std::stop_source stop;
  plan p;
  p.add({.id = "running", .run = [&](rule_context& context) {
           stop.request_stop();
           until_stopped(context);
           return false;
         }});
  const run_report report = run(p, {.workers = 1, .stop = stop.get_token()});
  EXPECT_EQ(status_of(report, "running"), rule_status::waiting);
}

TEST_F(Runner, OneRuleCanUseIdleWorkers) {
  plan p;
  p.add({.id = "wide", .run = [] {
           std::latch both(2);  // only two threads at once can pass it
           join([&] { both.arrive_and_wait(); }, [&] { both.arrive_and_wait(); });
         }});
  EXPECT_TRUE(run(p, {.workers = 2}).passed());
}

TEST_F(Runner, ARuleWithAllTheWeightRunsAlone) {
  std::mutex mutex;
  int running = 0;
  int beside_heavy = 0;
  const auto body = [&](bool heavy) {
    return [&, heavy] {
      {
        const std::lock_guard lock(mutex);
        ++running;
        if (heavy) beside_heavy += running - 1;
      }
      std::this_thread::yield();
      const std::lock_guard lock(mutex);
      --running;
    };
  };
  plan p;
  for (int i = 0; i < 200; ++i) {
    p.add({.id = "l" + std::to_string(i), .run = body(false)});
    if (i % 10 == 0) p.add({.id = "h" + std::to_string(i), .run = body(true), .weight = 4});
  }
  EXPECT_TRUE(run(p, {.workers = 4}).passed());
  EXPECT_EQ(beside_heavy, 0);
}

TEST_F(Runner, EventsTellTheWholeStoryInOrder) {
  plan p;
  p.add(noting("a")).add(noting("b", {"a"}));
  p.add({.id = "bad", .after = {"b"}, .run = [] { return false; }}).add(noting("c", {"bad"}));
  std::vector<std::string> told;
  run(p, {.workers = 1, .on_event = [&](const run_event& event) {
            using kind = run_event::kind;
            const auto& id = event.record.rules[event.index].id;
            if (event.what == kind::began) told.emplace_back("began");
            if (event.what == kind::started) told.push_back("+" + id);
            if (event.what == kind::finished) told.push_back("-" + id);
            if (event.what == kind::skipped) told.push_back("!" + id);
          }});
  EXPECT_THAT(told, ElementsAre("began", "+a", "-a", "+b", "-b", "+bad", "-bad", "!c"));
}

TEST_F(Runner, BarriersRunBatchesOneAfterAnotherWithWorkersByTheirSize) {
  plan p;
  p.add_batch({.id = "one"}).add_batch({.id = "many"});
  for (int i = 0; i < 60; ++i) {
    rule r = noting("m" + std::to_string(i));
    r.batch = "many";
    p.add(std::move(r));
  }
  rule r = noting("o");
  r.batch = "one";
  p.add(std::move(r));
  const run_report report = run(p, {.workers = 8, .barriers = true});
  EXPECT_EQ(ran().front(), "o");
  ASSERT_EQ(report.batches.size(), 2U);
  EXPECT_EQ(report.batches[0].workers, 1U);
  EXPECT_EQ(report.batches[1].workers, 8U);
}

TEST_F(Runner, BatchesThatWaitForEachOtherCannotHaveBarriers) {
  plan p;
  p.add_batch({.id = "x"}).add_batch({.id = "y"});
  p.add({.id = "x1", .batch = "x", .after = {"y1"}, .run = [] {}});
  p.add({.id = "y1", .batch = "y", .run = [] {}});
  p.add({.id = "y2", .batch = "y", .after = {"x1"}, .run = [] {}});
  EXPECT_TRUE(run(p, {.workers = 2}).passed());
  EXPECT_THROW(run(p, {.workers = 2, .barriers = true}), plan_error);
}

TEST_F(Runner, EveryPolicyRunsEverythingOnce) {
  for (const run_policy policy : {run_policy::critical_path, run_policy::stealing,
                                  run_policy::largest_first, run_policy::fifo}) {
    for (const unsigned workers : {1U, 2U, 8U, 32U}) {
      plan p;
      std::mutex mutex;
      std::multiset<std::string> seen;
      for (int i = 0; i < 300; ++i) {
        std::vector<std::string> after;
        if (i >= 10) after.push_back("r" + std::to_string(i / 3));
        p.add({.id = "r" + std::to_string(i), .after = after, .run = [&](rule_context& c) {
                 const std::lock_guard lock(mutex);
                 seen.emplace(c.id());
               }});
      }
      const run_report report = run(p, {.workers = workers, .policy = policy});
      EXPECT_TRUE(report.passed());
      EXPECT_EQ(seen.size(), 300U);
      EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 300U);
    }
  }
}

TEST_F(Runner, OneToThirtyTwoWorkersColdAndWarm) {
  const test::temporary_directory directory;
  for (const unsigned workers : {1U, 2U, 8U, 16U, 32U}) {
    const std::string file = directory.path(std::to_string(workers) + ".profiles.json");
    plan p;
    for (int i = 0; i < 60; ++i) {
      rule r = noting("r" + std::to_string(i));
      if (i >= 4) r.after.push_back("r" + std::to_string(i / 4));
      p.add(std::move(r));
    }
    for (const char* const mode : {"adaptive_cold", "adaptive_warm"}) {
      const std::size_t before = ran().size();
      const run_report report = run(p, {.workers = workers, .profiles = file});
      EXPECT_EQ(report.mode, mode);
      EXPECT_EQ(report.passed_count, 60U);
      EXPECT_EQ(ran().size(), before + 60);
      EXPECT_EQ(report.worker_stats.size(), workers);
      EXPECT_GE(report.gap, 1.0 - 1e-9);
    }
  }
}

TEST_F(Runner, BatchesOfComputingAndWaitingRulesGetWorkersByTheirSize) {
  plan p;
  int number = 0;
  for (const std::size_t size : {1U, 3U, 6U, 20U}) {
    const std::string id = "batch of " + std::to_string(size);
    p.add_batch({.id = id});
    for (std::size_t i = 0; i < size; ++i) {
      rule r{.id = "r" + std::to_string(number++), .batch = id};
      if (i % 2 == 0) {
        r.command = {"sleep", "0.01"};
      } else {
        r.run = [] { return std::accumulate(std::begin(digits), std::end(digits), 0) == 45; };
      }
      p.add(std::move(r));
    }
  }
  const run_report report = run(p, {.workers = 8, .barriers = true});
  EXPECT_TRUE(report.passed());
  std::vector<unsigned> workers;
  for (const batch_report& batch : report.batches) workers.push_back(batch.workers);
  EXPECT_THAT(workers, ElementsAre(1, 2, 4, 8));
}

TEST_F(Runner, UnevenCostsMakeWorkersSteal) {
  // Dealt by equal expectations; one rule waits until the others of its worker are stolen.
  plan p;
  std::latch others(7);
  p.add({.id = "long", .run = [&] { others.wait(); }});
  for (int i = 0; i < 7; ++i) {
    p.add({.id = "r" + std::to_string(i), .run = [&] { others.count_down(); }});
  }
  const run_report report = run(p, {.workers = 2, .policy = run_policy::stealing});
  EXPECT_GT(report.total_steals, 0U);
  EXPECT_TRUE(report.passed());
}

TEST_F(Runner, TheLogSaysWhatTheReportSays) {
  const test::temporary_directory directory;
  plan p;
  p.add(noting("a")).add({.id = "bad", .after = {"a"}, .run = [] { return fail_rule("why"); }});
  p.add(noting("c", {"bad"}));
  p.add({.id = "flaky",
         .run = [](rule_context& c) { return c.attempt() > 1; },
         .retries = 1,
         .retry_delay = 1ms});
  run_report report = run(p, {.workers = 2, .log_directory = directory.path()});
  const auto logs = batch::list_runs(directory.path());
  ASSERT_EQ(logs.size(), 1U);
  const auto read = batch::read_run(logs[0]);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(to_json(make_report(read->record)), to_json(report));
}

TEST_F(Runner, AResumedRunDoesOnlyWhatIsLeft) {
  const test::temporary_directory directory;
  std::stop_source finish;
  int times_first = 0;
  bool interrupting = true;
  plan p;
  p.add({.id = "first", .run = [&] {
           ++times_first;
           if (interrupting) finish.request_stop();
         }});
  p.add({.id = "bad", .after = {"first"}, .run = [] { return false; }});
  p.add(noting("second", {"first"}));
  run_report report =
      run(p, {.workers = 1, .log_directory = directory.path(), .finish = finish.get_token()});
  EXPECT_EQ(report.record.ending, run_ending::interrupted);
  EXPECT_EQ(report.waiting_count, 2U);

  interrupting = false;
  const std::string log = batch::list_runs(directory.path()).at(0);
  report = run(p, {.workers = 1, .resume = log});
  EXPECT_EQ(times_first, 1);
  EXPECT_THAT(ran(), ElementsAre("second"));
  EXPECT_EQ(report.passed_count, 2U);
  EXPECT_EQ(report.failed_count, 1U);
  EXPECT_EQ(report.record.resumed, 1U);
  const auto read = batch::read_run(log);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_json(make_report(read->record)), to_json(report));
}

TEST_F(Runner, AResumedPlanMustBeTheSame) {
  const test::temporary_directory directory;
  plan before;
  before.add({.id = "a", .shell = "true"});
  run(before, {.workers = 1, .log_directory = directory.path()});
  const std::string log = batch::list_runs(directory.path()).at(0);
  plan changed;
  changed.add({.id = "a", .shell = "false"});
  try {
    run(changed, {.workers = 1, .resume = log});
    FAIL() << "it was resumed";
  } catch (const run_error& thrown) {
    EXPECT_EQ(thrown.kind(), error_kind::bad_data);
    EXPECT_THAT(thrown.what(), HasSubstr("the rule \"a\" was changed"));
  }
}

TEST_F(Runner, TheBatchesOfAResumedPlanMustBeTheSame) {
  const test::temporary_directory directory;
  plan before;
  before.add_batch({.id = "x"}).add_batch({.id = "y", .after = {"x"}});
  before.add(test::named("a", {}, "x")).add(test::named("b", {}, "y"));
  run(before, {.workers = 1, .barriers = true, .log_directory = directory.path()});
  const std::string log = batch::list_runs(directory.path()).at(0);

  plan more;
  more.add_batch({.id = "x"}).add_batch({.id = "y", .after = {"x"}}).add_batch({.id = "z"});
  plan freed;
  freed.add_batch({.id = "x"}).add_batch({.id = "y"});
  for (plan* const changed : {&more, &freed}) {
    for (const rule& r : before.rules()) changed->add(r);
    try {
      run(*changed, {.workers = 1, .barriers = true, .resume = log});
      ADD_FAILURE() << "it was resumed";
    } catch (const run_error& thrown) {
      EXPECT_EQ(thrown.kind(), error_kind::bad_data);
      EXPECT_THAT(thrown.what(), HasSubstr("the batches of the plan were changed"));
    }
  }
}

TEST_F(Runner, TheLogKnowsARetryThatNeverCame) {
  const test::temporary_directory directory;
  std::latch failed(1);
  bool mended = false;
  plan p;
  p.add({.id = "flaky",
         .run = [&] { return mended ? pass() : fail_rule("not yet"); },
         .retries = 1,
         .retry_delay = 1h});
  p.add({.id = "bad", .run = [&] {
           failed.wait();
           return false;
         }});
  run_options options{.workers = 2, .fail_fast = true, .log_directory = directory.path()};
  options.on_event = [&](const run_event& event) {
    if (event.what == run_event::kind::repeated) failed.count_down();
  };
  run_report report = run(p, options);
  EXPECT_EQ(report.record.rules[0].message, "not yet");
  const std::string log = batch::list_runs(directory.path()).at(0);
  auto read = batch::read_run(log);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_json(make_report(read->record)), to_json(report));

  mended = true;
  report = run(p, {.workers = 2, .resume = log});
  EXPECT_EQ(report.record.rules[0].status, rule_status::flaky);
  EXPECT_EQ(report.record.rules[0].message, "not yet");
  read = batch::read_run(log);
  EXPECT_EQ(to_json(make_report(read->record)), to_json(report));
}

TEST_F(Runner, TheLogOfAResumedRunSaysHowItWentOn) {
  const test::temporary_directory directory;
  plan p;
  p.add(noting("a"));
  run_options options{.workers = 1, .policy = run_policy::stealing};
  options.log_directory = directory.path();
  run(p, options);
  const std::string log = batch::list_runs(directory.path()).at(0);
  const run_report second = run(
      p,
      {.workers = 2, .policy = run_policy::fifo, .barriers = true, .fixed = true, .resume = log});
  const run_record logged = batch::read_run(log)->record;
  EXPECT_EQ(logged.policy, run_policy::fifo);
  EXPECT_EQ(to_json(make_report(logged)), to_json(second));
}

TEST_F(Runner, AResumedRunWithFewerWorkersKeepsWhatTheOthersTried) {
  const test::temporary_directory directory;
  plan p;
  p.add(noting("a"));
  run_options options{.workers = 4, .policy = run_policy::stealing};
  options.log_directory = directory.path();
  const run_report first = run(p, options);
  const std::string log = batch::list_runs(directory.path()).at(0);
  const run_report second = run(p, {.workers = 1, .policy = run_policy::stealing, .resume = log});
  ASSERT_EQ(second.record.steal_attempts.size(), 4U);
  EXPECT_EQ(second.record.steal_attempts, first.record.steal_attempts);
}

// Asks for the end of the run when so many things have happened, and a little later once more.
void end_after(std::uint64_t events, run_options& options, std::stop_source& finish,
               std::stop_source& stop) {
  options.finish = finish.get_token();
  options.stop = stop.get_token();
  options.on_event = [&finish, &stop, events, seen = std::uint64_t{0}](const run_event&) mutable {
    ++seen;
    if (seen == events) finish.request_stop();
    if (seen == events + 2) stop.request_stop();
  };
}

TEST_F(Runner, InterruptedAnywhereAndResumedEveryRulePassesOnce) {
  constexpr std::size_t rules = 24;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::temporary_directory directory;
    std::mt19937_64 random(seed);
    std::mutex mutex;
    std::vector<int> passes(rules, 0);
    plan p;
    for (std::size_t i = 0; i < rules; ++i) {
      rule made{.id = "r" + std::to_string(i), .batch = "b" + std::to_string(i / 6)};
      if (i >= 6 && random() % 3 != 0) made.after = {"r" + std::to_string(random() % (i / 6 * 6))};
      made.weight = static_cast<unsigned>(1 + random() % 3);
      made.memory = random() % 150;
      made.retries = 2;
      made.retry_delay = 1ms;
      if (random() % 6 == 0) {
        made.command = {"true"};
      } else {
        made.run = [&, i, flaky = random() % 4 == 0](rule_context& context) {
          if (context.stop().stop_requested() || (flaky && context.attempt() == 1)) return false;
          const std::lock_guard lock(mutex);
          ++passes[i];
          return true;
        };
      }
      p.add(std::move(made));
    }
    run_options options{.workers = static_cast<unsigned>(1 + random() % 4)};
    constexpr run_policy policies[] = {run_policy::critical_path, run_policy::stealing,
                                       run_policy::largest_first, run_policy::fifo};
    options.policy = policies[random() % 4];
    options.barriers = random() % 2 == 0;
    options.memory = 200;
    options.log_directory = directory.path();
    run_report report;
    for (bool complete = false; !complete;) {
      std::stop_source finish;
      std::stop_source stop;
      end_after(1 + random() % 60, options, finish, stop);
      report = run(p, options);
      options.resume = batch::list_runs(directory.path()).at(0);
      const auto read = batch::read_run(options.resume);
      ASSERT_TRUE(read.has_value()) << read.error().message;
      ASSERT_EQ(to_json(make_report(read->record)), to_json(report));
      complete = report.record.ending == run_ending::complete;
    }
    EXPECT_TRUE(report.passed());
    for (std::size_t i = 0; i < rules; ++i) {
      EXPECT_EQ(passes[i], p.rules()[i].run ? 1 : 0) << p.rules()[i].id;
    }
  }
}

TEST_F(Runner, ACommandKnowsItsRuleAndItsRun) {
  plan p;
  p.add({.id = "a", .shell = "echo \"$WEFT_RULE $WEFT_RUN\""});
  const run_report report = run(p, {.workers = 1});
  EXPECT_EQ(report.record.rules[0].output, "a " + report.record.id + "\n");
}

TEST_F(Runner, CommandsRunBesideFunctions) {
  plan p;
  p.add({.id = "echo", .command = {"echo", "hello"}});
  p.add(noting("here", {"echo"}));
  p.add({.id = "shell",
         .after = {"here"},
         .shell = "echo \"$WHO\" >&2; exit 3",
         .env = {{"WHO", "weft"}}});
  const run_report report = run(p, {.workers = 2});
  const auto& rules = report.record.rules;
  EXPECT_EQ(rules[0].status, rule_status::passed);
  EXPECT_EQ(rules[0].exit_code, 0);
  EXPECT_EQ(rules[0].output, "hello\n");
  EXPECT_GT(rules[0].peak_rss, 0U);
  EXPECT_EQ(rules[2].status, rule_status::failed);
  EXPECT_EQ(rules[2].exit_code, 3);
  EXPECT_EQ(rules[2].message, "exit code 3");
  EXPECT_EQ(rules[2].output, "weft\n");
}

TEST_F(Runner, ACommandThatCannotStartFailsAndSaysWhy) {
  plan p;
  p.add({.id = "a", .command = {"./there-is-no-such-program"}});
  const run_report report = run(p, {.workers = 1});
  EXPECT_EQ(report.failed_count, 1U);
  EXPECT_THAT(report.record.rules[0].message, HasSubstr("there-is-no-such-program"));
}

TEST_F(Runner, ACommandWhoseTimeIsUpIsKilled) {
  plan p;
  p.add({.id = "a", .command = {"cat", "/dev/zero"}, .timeout = 20ms});
  const run_report report = run(p, {.workers = 1});
  EXPECT_EQ(report.record.rules[0].status, rule_status::timed_out);
  EXPECT_EQ(report.record.rules[0].message, "timed out after 0.02 s");
}

TEST_F(Runner, StoppedCommandsCountAsNotRun) {
  std::stop_source stop;
  plan p;
  p.add({.id = "a", .command = {"sleep", "1000"}});
  const run_report report =
      run(p, {.workers = 1, .stop = stop.get_token(), .on_event = [&](const run_event& event) {
                if (event.what == run_event::kind::started) {
                  std::thread([&] { stop.request_stop(); }).detach();
                }
              }});
  EXPECT_EQ(report.record.ending, run_ending::interrupted);
  EXPECT_EQ(report.waiting_count, 1U);
}

TEST_F(Runner, LearnsWhatRulesTakeAndOrdersByIt) {
  const test::temporary_directory directory;
  const std::string file = directory.path() + "/profiles.json";
  const auto make = [&](bool slow) {
    plan p;
    for (const char* id : {"a", "b", "c"}) {
      rule r = noting(id);
      if (slow && id[0] == 'c') {
        r.run = [body = r.run](rule_context& context) {
          const auto until = std::chrono::steady_clock::now() + 20ms;
          while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
          body(context);
        };
      }
      p.add(std::move(r));
    }
    return p;
  };
  EXPECT_EQ(run(make(true), {.workers = 1, .profiles = file}).mode, "adaptive_cold");
  EXPECT_THAT(ran(), ElementsAre("a", "b", "c"));
  const run_report warm = run(make(false), {.workers = 1, .profiles = file});
  EXPECT_EQ(warm.mode, "adaptive_warm");
  EXPECT_EQ(ran().at(3), "c");  // known to be long, so it goes first
}

TEST_F(Runner, OptionsAreChecked) {
  const plan p;
  EXPECT_THROW(run(p, {.workers = workers_max + 1}), std::invalid_argument);
  EXPECT_THROW(run(p, {.workers = 1, .load_max = -1}), std::invalid_argument);
  EXPECT_THROW(run(p, {.workers = 1, .timeout = -1s}), std::invalid_argument);
  EXPECT_TRUE(run(p, {.workers = 1}).passed());  // nothing to do is done
}

TEST_F(Runner, RulesOfWhichNoTwoAreAlikeAreNoWorseThanOthers) {
  plan p;
  for (int i = 0; i < 100'000; ++i) {
    const std::string number = std::to_string(i);
    p.add({.id = "r" + number, .batch = "b" + number, .run = [] {}});
  }
  // In time for the watchdog, which a look at all rules after each would not be.
  EXPECT_EQ(run(p, {.workers = 2}).passed_count, 100'000U);
}

TEST_F(Runner, AHundredThousandRulesArePlannedQuickly) {
  plan p;
  for (int i = 0; i < test::rounds(100'000); ++i) {
    rule r{.id = "r" + std::to_string(i), .run = [] {}};
    if (i > 0) r.after.push_back("r" + std::to_string(i / 2));
    p.add(std::move(r));
  }
  EXPECT_TRUE(run(p, {.workers = 2}).passed());
}

}  // namespace
}  // namespace weft
