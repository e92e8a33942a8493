#include <weft/batch/timeline.hpp>

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <batch/idle_time.hpp>
#include <batch/records.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using test::ran;
using test::record_of;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(IdleSpans, SayWhichWorkerWaitedForWhat) {
  // b waits for a; then the other worker has nothing more to do.
  const auto spans = idle_spans(record_of(2, 3, {ran("a", 0, 0, 1), ran("b", 1, 1, 2, {"a"})}));
  EXPECT_THAT(
      spans,
      ElementsAre(idle_span{.worker = 0, .begin = 1, .end = 3, .why = idle_reason::tail},
                  idle_span{.worker = 1, .begin = 0, .end = 1, .why = idle_reason::dependency}));
}

TEST(IdleSpans, ARuleWithoutRoomIsAdmission) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1), ran("b", 1, 1, 1)};
  rules[1].ready = 0;
  rules[1].held = 0;
  const auto spans = idle_spans(record_of(2, 2, rules));
  EXPECT_THAT(
      spans,
      ElementsAre(idle_span{.worker = 0, .begin = 1, .end = 2, .why = idle_reason::tail},
                  idle_span{.worker = 1, .begin = 0, .end = 1, .why = idle_reason::admission}));
}

TEST(IdleSpans, AWorkerThatAHeavyRuleKeepsIsNotIdle) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 2)};
  rules[0].weight = 2;
  EXPECT_THAT(idle_spans(record_of(2, 2, rules)), IsEmpty());
}

TEST(IdleSpans, AddUpToTheIdleTimeByReasonForEverySchedule) {
  EXPECT_TRUE(test::holds("spans add up", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed);
    std::map<idle_reason, double> sum;
    double last_end = 0;
    unsigned last_worker = 0;
    for (const idle_span& span : idle_spans(record)) {
      RC_ASSERT(span.begin < span.end);
      RC_ASSERT(span.worker > last_worker || span.begin >= last_end);
      last_worker = span.worker;
      last_end = span.end;
      sum[span.why] += (span.end - span.begin) / record.workers;
      for (const rule_record& rule : record.rules) {
        RC_ASSERT(rule.worker != span.worker || rule.end() <= span.begin + 1e-12 ||
                  rule.start >= span.end - 1e-12);
      }
    }
    const gap_parts whole = idle_time(record, record.elapsed);
    RC_ASSERT(std::abs(sum[idle_reason::dependency] - whole.dependency) < 1e-9);
    RC_ASSERT(std::abs(sum[idle_reason::tail] - whole.tail) < 1e-9);
    RC_ASSERT(std::abs(sum[idle_reason::admission] - whole.admission) < 1e-9);
    RC_ASSERT(std::abs(sum[idle_reason::overhead] - whole.overhead) < 1e-9);
  }));
}

TEST(LoadLevels, CountWhatIsReadyAndWhatRuns) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1), ran("b", 0, 1, 1)};
  rules[1].ready = 0;
  rules[1].peak_rss = 7;
  EXPECT_THAT(
      load_levels(record_of(1, 2, rules)),
      ElementsAre(load_level{.at = 0, .ready = 1, .running = 1},
                  load_level{.at = 1, .ready = 0, .running = 1, .memory = 7}, load_level{.at = 2}));
}

TEST(LoadLevels, ARuleThatFollowsAnotherDoesNotRunBesideIt) {
  // 0.1 + 0.2 is a little more than 0.3.
  const auto levels = load_levels(record_of(1, 1, {ran("a", 0, 0.1, 0.2), ran("b", 0, 0.3, 0.7)}));
  EXPECT_THAT(levels, ElementsAre(load_level{}, load_level{.at = 0.1, .running = 1},
                                  load_level{.at = 0.3, .running = 1}, load_level{.at = 1}));
}

TEST(LoadLevels, MemoryThatNoMachineHasComesAndGoes) {
  std::vector<rule_record> rules = {ran("a", 0, 0, 1)};
  rules[0].peak_rss = std::uint64_t{1} << 63U;
  EXPECT_THAT(load_levels(record_of(1, 1, rules)),
              ElementsAre(load_level{.at = 0, .running = 1, .memory = rules[0].peak_rss},
                          load_level{.at = 1}));
}

TEST(LoadLevels, NeverHaveMoreRunningThanWorkersAndEndWithNothing) {
  EXPECT_TRUE(test::holds("levels are sane", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed);
    const auto levels = load_levels(record);
    for (const load_level& level : levels) RC_ASSERT(level.running <= record.workers);
    RC_ASSERT(levels.back().running == 0U && levels.back().ready == 0U);
  }));
}

}  // namespace
}  // namespace weft::batch
