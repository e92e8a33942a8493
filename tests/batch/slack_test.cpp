#include <weft/batch/slack.hpp>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <batch/records.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using test::ran;
using test::record_of;
using testing::ElementsAre;

TEST(Slack, IsNothingOnTheCriticalPathAndTheRestBesideIt) {
  const run_record record = record_of(
      2, 4,
      {ran("a", 0, 0, 1), ran("b", 0, 1, 3, {"a"}), ran("c", 1, 0, 1), ran("d", 1, 1, 2, {"a"})});
  EXPECT_THAT(slack_of(graph_of(record), taken_by(record)), ElementsAre(0, 0, 3, 1));
}

TEST(Slack, IsJustWhatARuleMayBeSlowerBeforeThePathGetsLonger) {
  EXPECT_TRUE(test::holds("slack is exact", [](std::uint64_t seed) {
    const run_record record = test::random_run(seed);
    const graph shape = graph_of(record);
    const std::vector<unsigned> weight(record.rules.size(), 1);
    const costs taken = taken_by(record);
    const std::vector<double> slack = slack_of(shape, taken);
    const double path = bound_of(shape, taken, weight, 1).critical_path;
    const std::size_t slower = seed % taken.size();
    costs changed = taken;
    changed[slower] += slack[slower];
    RC_ASSERT(std::abs(bound_of(shape, changed, weight, 1).critical_path - path) < 1e-9);
    changed[slower] += 1;
    RC_ASSERT(std::abs(bound_of(shape, changed, weight, 1).critical_path - path - 1) < 1e-9);
  }));
}

TEST(GraphOf, LeavesOutWhatALogThatWasCutOffDoesNotHave) {
  run_record record = record_of(2, 1, {ran("a", 0, 0, 1, {"never-written"})});
  record.rules[0].batch = "neither";
  EXPECT_EQ(graph_of(record).rule_count(), 1U);
}

}  // namespace
}  // namespace weft::batch
