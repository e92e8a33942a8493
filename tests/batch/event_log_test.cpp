#include <weft/batch/event_log.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/batch/report.hpp>

#include <support/temporary_directory.hpp>

namespace weft::batch {
namespace {

using ::testing::HasSubstr;

run_record sample_run() {
  run_record run{.id = "20260101-000000.000-abcd", .plan = "sample", .plan_file = "/p.toml"};
  run.started = 1767225600.25;
  run.workers = 4;
  run.policy = run_policy::stealing;
  run.barriers = true;
  run.batches = {{.id = "x", .name = "First"}, {.id = "y", .name = "", .after = {"x"}}};
  rule_record a{.id = "a", .name = "A \"quoted\" name", .batch = "x"};
  a.fingerprint = "00ff";
  a.predicted = 0.125;
  a.source = cost_source::hint;
  rule_record b{.id = "b", .batch = "y", .after = {"a"}};
  b.fingerprint = "01";
  b.weight = 2;
  run.rules = {a, b};
  return run;
}

rule_record finished_a(rule_record a) {
  a.status = rule_status::flaky;
  a.ready = 0.5;
  a.held = 0.75;
  a.start = 1.0;
  a.duration = 0.25;
  a.worker = 3;
  a.stolen_from = 1;
  a.attempts = 2;
  a.exit_code = 0;
  a.peak_rss = 123456789;
  a.cpu = 0.125;
  a.message = "exit code 1";
  a.findings = {{.file = "a \"b\".txt", .line = 3, .message = "has TODO\n"}, {.file = "c"}};
  a.output = "line\n\ttab \x01 \"q\" \\ \xE2\x82\xAC";
  return a;
}

class EventLog : public ::testing::Test {
 protected:
  test::temporary_directory directory_;
  std::string path_;

  // A log with everything that can be in one, closed.
  run_record write_all() {
    const run_record run = sample_run();
    auto log = event_log::create(directory_.path(), run);
    EXPECT_TRUE(log.has_value());
    path_ = (*log)->path();
    (*log)->stage(0.0, 0, 1);
    (*log)->started(0.5, 0, 3, 1);
    (*log)->repeated(0, {.worker = 2, .start = 0.5, .duration = 0.25}, "exit code 1");
    (*log)->finished(0, finished_a(run.rules[0]));
    (*log)->skipped(1.25, 1, "a");
    (*log)->done(1.5, run_ending::complete, {1, 2, 3, 4});
    return run;
  }
};

TEST_F(EventLog, WhatIsWrittenIsRead) {
  const run_record run = write_all();
  const auto read = read_run(path_);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const run_record& got = read->record;
  EXPECT_EQ(got.id, run.id);
  EXPECT_EQ(got.plan_file, "/p.toml");
  EXPECT_DOUBLE_EQ(got.started, run.started);
  EXPECT_EQ(got.policy, run_policy::stealing);
  EXPECT_TRUE(got.barriers);
  ASSERT_EQ(got.batches.size(), 2U);
  EXPECT_EQ(got.batches[0].workers, 1U);
  EXPECT_EQ(got.batches[1].after, std::vector<std::string>{"x"});
  ASSERT_EQ(got.rules.size(), 2U);
  const rule_record& a = got.rules[0];
  const rule_record expected = finished_a(run.rules[0]);
  EXPECT_EQ(a.name, expected.name);
  EXPECT_EQ(a.status, rule_status::flaky);
  EXPECT_DOUBLE_EQ(a.ready, 0.5);
  EXPECT_EQ(a.held, 0.75);
  EXPECT_DOUBLE_EQ(a.start, 1.0);
  EXPECT_DOUBLE_EQ(a.duration, 0.25);
  EXPECT_EQ(a.worker, 3U);
  EXPECT_EQ(a.stolen_from, 1U);
  EXPECT_EQ(a.attempts, 2U);
  ASSERT_EQ(a.earlier.size(), 1U);
  EXPECT_EQ(a.earlier[0].worker, 2U);
  EXPECT_EQ(a.exit_code, 0);
  EXPECT_EQ(a.peak_rss, 123456789U);
  EXPECT_EQ(a.output, expected.output);
  EXPECT_EQ(a.message, "exit code 1");
  EXPECT_EQ(a.findings, expected.findings);
  EXPECT_EQ(a.source, cost_source::hint);
  EXPECT_EQ(got.rules[1].status, rule_status::skipped);
  EXPECT_EQ(got.rules[1].skipped_for, "a");
  EXPECT_EQ(got.rules[1].weight, 2U);
  EXPECT_DOUBLE_EQ(got.elapsed, 1.5);
  EXPECT_EQ(got.ending, run_ending::complete);
  EXPECT_EQ(got.steal_attempts, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(EventLog, CutOffAnywhereItIsReadUpToTheLastWholeLine) {
  write_all();
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::size_t plan_end = whole.find("{\"event\":\"stage\"");
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    const auto read = read_run(path_);
    if (length <= whole.find('\n')) {  // not even the name of the run
      ASSERT_FALSE(read.has_value()) << length;
      EXPECT_EQ(read.error().kind, error_kind::bad_data);
      continue;
    }
    ASSERT_TRUE(read.has_value()) << length << ": " << read.error().message;
    EXPECT_EQ(read->has_whole_plan, length >= plan_end) << length;
    const run_report report = make_report(read->record);
    EXPECT_EQ(report.total_rules, report.passed_count + report.failed_count + report.skipped_count +
                                      report.waiting_count);
    const std::size_t last_end = whole.rfind('\n', length == 0 ? 0 : length - 1);
    EXPECT_EQ(read->complete_bytes, last_end + 1) << length;
  }
}

TEST_F(EventLog, TellsWhichCommandsHadNotEnded) {
  auto log = event_log::create(directory_.path(), sample_run());
  ASSERT_TRUE(log.has_value());
  (*log)->started(0.5, 0, 3, 1);
  (*log)->started(0.5, 1, 2, 1);
  EXPECT_THAT(read_run((*log)->path())->running, ::testing::ElementsAre("a", "b"));
  (*log)->repeated(1, {.worker = 2, .start = 0.5, .duration = 0.25}, "exit code 1");
  (*log)->finished(0, finished_a(sample_run().rules[0]));
  (*log)->flush();
  EXPECT_THAT(read_run((*log)->path())->running, ::testing::IsEmpty());
}

TEST_F(EventLog, ReopenedItGoesOnAfterTheLastWholeLine) {
  write_all();
  std::ofstream(path_, std::ios::app) << R"({"event":"end","ru)";
  const auto read = read_run(path_);
  ASSERT_TRUE(read.has_value());
  {
    auto again = event_log::reopen(path_, read->complete_bytes);
    ASSERT_TRUE(again.has_value());
    run_record going_on = read->record;
    going_on.workers = 8;
    going_on.policy = run_policy::fifo;
    (*again)->resumed(1.5, going_on);
  }
  const auto after = read_run(path_);
  ASSERT_TRUE(after.has_value()) << after.error().message;
  EXPECT_EQ(after->record.resumed, 1U);
  EXPECT_EQ(after->record.workers, 8U);
  EXPECT_EQ(after->record.policy, run_policy::fifo);
  EXPECT_EQ(after->record.ending, run_ending::none);
}

TEST_F(EventLog, ALogWhoseRunStillRunsIsNotReopened) {
  auto log = event_log::create(directory_.path(), sample_run());
  ASSERT_TRUE(log.has_value());
  const auto second = event_log::reopen((*log)->path(), 0);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, error_kind::try_again);
  EXPECT_THAT(second.error().message,
              HasSubstr("still runs, in process " + std::to_string(::getpid())));
}

TEST_F(EventLog, ALogThatHasGrownSinceItWasReadIsNotCutOff) {
  std::size_t read_bytes = 0;
  {
    auto log = event_log::create(directory_.path(), sample_run());
    ASSERT_TRUE(log.has_value());
    path_ = (*log)->path();
    read_bytes = read_run(path_)->complete_bytes;
    (*log)->skipped(1.25, 1, "a");
  }
  const auto again = event_log::reopen(path_, read_bytes);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().kind, error_kind::try_again);
  EXPECT_EQ(read_run(path_)->record.rules[1].status, rule_status::skipped);
}

TEST_F(EventLog, WhatMakesNoSenseIsRefusedWithItsLine) {
  const std::string path = directory_.path() + "/x.jsonl";
  const auto problem = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    const auto read = read_run(path);
    return read ? std::string("fine") : read.error().message;
  };
  const std::string head =
      R"({"event":"run","version":1,"id":"i","plan":"p","started":1,"workers":2,)"
      R"("policy":"fifo","barriers":false,"fixed":false})"
      "\n";
  EXPECT_THAT(problem(""), HasSubstr("x.jsonl:1: this is no event log"));
  EXPECT_THAT(problem("hello\n"), HasSubstr("x.jsonl:1: this is no event log"));
  EXPECT_THAT(problem(std::string(100, '\0') + "\n"), HasSubstr("x.jsonl:1:"));
  EXPECT_THAT(problem(head + "{}\n"), HasSubstr("x.jsonl:2:"));
  EXPECT_THAT(problem(head + R"({"event":"skip","t":1,"rule":7,"cause":"a"})" + "\n"),
              HasSubstr("x.jsonl:2: there is no rule 7"));
  EXPECT_THAT(problem(R"({"event":"run","version":9})"
                      "\n"),
              HasSubstr("version 9, and this program reads version 1"));
  EXPECT_EQ(problem(head + R"({"event":"from the future","x":[1]})" + "\n"), "fine");
}

TEST_F(EventLog, NumbersThatNoRunCanHaveAreRefused) {
  const std::string path = directory_.path() + "/x.jsonl";
  const auto problem = [&](const std::string& workers, const std::string& event) {
    std::ofstream(path, std::ios::trunc)
        << R"({"event":"run","version":1,"id":"i","plan":"p","started":1,"workers":)" << workers
        << R"(,"policy":"fifo","barriers":false,"fixed":false})"
           "\n"
           R"({"event":"rule","id":"a","fingerprint":"","predicted":0,"source":"guess"})"
           "\n"
        << event << "\n";
    const auto read = read_run(path);
    if (read) return std::string("fine");
    return read.error().message;
  };
  const auto end = [&](const std::string& start, const std::string& duration) {
    return R"({"event":"end","rule":0,"status":"passed","ready":0,"worker":0,"attempts":1,"start":)" +
           start + R"(,"duration":)" + duration + "}";
  };
  EXPECT_EQ(problem("2", end("0.5", "1")), "fine");
  EXPECT_THAT(problem("2", end("1e308", "1")), HasSubstr("x.jsonl:3: \"start\""));
  EXPECT_THAT(problem("2", end("0", "-1")), HasSubstr("x.jsonl:3: \"duration\""));
  EXPECT_THAT(problem("2", R"({"event":"start","t":-1,"rule":0})"), HasSubstr("\"t\""));
  EXPECT_THAT(problem("2", R"({"event":"done","t":1e300,"ending":"complete"})"),
              HasSubstr("\"t\""));
  const auto end_with = [&](const std::string& more) {
    return R"({"event":"end","rule":0,"status":"passed","ready":0,"start":0,"duration":1,)" + more +
           "}";
  };
  EXPECT_EQ(problem("2", end_with(R"("worker":3,"attempts":1,"peak_rss":18446744073709551615)")),
            "fine");
  for (const char* const worker : {"-1", "1024", "4294967295", "0.5", "1e300", "\"0\"", "null"}) {
    const std::string event = end_with(R"("attempts":1,"worker":)" + std::string(worker));
    EXPECT_THAT(problem("2", event), HasSubstr("x.jsonl:3: \"worker\"")) << worker;
  }
  EXPECT_THAT(problem("2", end_with(R"("worker":0,"attempts":-1)")), HasSubstr("\"attempts\""));
  EXPECT_THAT(problem("2", end_with(R"("worker":0,"attempts":1,"stolen_from":4294967295)")),
              HasSubstr("\"stolen_from\""));
  EXPECT_THAT(problem("2", end_with(R"("worker":0,"attempts":1,"exit_code":1e300)")),
              HasSubstr("\"exit_code\""));
  EXPECT_THAT(problem("2", R"({"event":"rule","id":"b","fingerprint":"","weight":0,)"
                           R"("predicted":0,"source":"guess"})"),
              HasSubstr("\"weight\""));
  EXPECT_THAT(problem("2", R"({"event":"skip","t":0,"rule":-1,"cause":"a"})"),
              HasSubstr("\"rule\""));
  EXPECT_THAT(problem("4294967297", end("0", "1")), HasSubstr("x.jsonl:1:"));
  EXPECT_THAT(problem("-1", end("0", "1")), HasSubstr("x.jsonl:1:"));
  EXPECT_THAT(problem("1e300", end("0", "1")), HasSubstr("x.jsonl:1:"));
}

TEST_F(EventLog, OldLogsAreForgottenAndTheNewestKept) {
  for (int i = 0; i < 5; ++i) {
    run_record run = sample_run();
    run.id = new_run_id(i);
    ASSERT_TRUE(event_log::create(directory_.path(), run).has_value());
  }
  forget_old_runs(directory_.path(), 2);
  const auto left = list_runs(directory_.path());
  ASSERT_EQ(left.size(), 2U);
  EXPECT_THAT(left[0], HasSubstr("19700101-000004.000-"));
  EXPECT_THAT(left[1], HasSubstr("19700101-000003.000-"));
}

TEST_F(EventLog, WhatIsNoLogIsNeitherListedNorForgotten) {
  const std::string id = new_run_id(0);
  const std::vector<std::string> others = {"/measurements.jsonl", "/x" + id + ".jsonl",
                                           "/" + id + "-copy.jsonl", "/" + id + ".json"};
  for (const std::string& name : others) std::ofstream(directory_.path() + name) << "precious";
  const std::string pipe = directory_.path() + "/" + new_run_id(1) + ".jsonl";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(list_runs(directory_.path()), ::testing::IsEmpty());
  forget_old_runs(directory_.path(), 0);
  for (const std::string& name : others) {
    EXPECT_TRUE(std::filesystem::exists(directory_.path() + name)) << name;
  }
}

TEST_F(EventLog, ALinkInItsPlaceIsNotFollowed) {
  const std::string victim = directory_.path() + "/victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, directory_.path() + "/" + sample_run().id + ".jsonl");
  EXPECT_FALSE(event_log::create(directory_.path(), sample_run()).has_value());
  std::ifstream in(victim);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, "precious");
}

TEST_F(EventLog, AFullDiskEndsTheLogAndNotTheRun) {
  std::signal(SIGXFSZ, SIG_IGN);
  auto log = event_log::create(directory_.path(), sample_run());
  ASSERT_TRUE(log.has_value());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 2000, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  for (int i = 0; i < 100; ++i) (*log)->finished(0, finished_a(sample_run().rules[0]));
  (*log)->flush();
  ::setrlimit(RLIMIT_FSIZE, &before);
  (*log)->finished(0, finished_a(sample_run().rules[0]));
  (*log)->flush();  // must not leave a hole
  ASSERT_TRUE((*log)->problem().has_value());
  EXPECT_THAT(*(*log)->problem(), HasSubstr("File too large"));
  EXPECT_TRUE(read_run((*log)->path()).has_value());
}

TEST(RunId, SortsByTimeAndDiffersFromItsTwin) {
  EXPECT_LT(new_run_id(1767225600.001), new_run_id(1767225600.250));
  EXPECT_NE(new_run_id(1767225600.001), new_run_id(1767225600.001));
  EXPECT_THAT(new_run_id(1767225600.25), ::testing::StartsWith("20260101-000000.250-"));
}

}  // namespace
}  // namespace weft::batch
