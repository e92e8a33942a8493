#include <weft/batch/plan.hpp>

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/batch/graph.hpp>

#include <batch/plans.hpp>

namespace weft {
namespace {

using test::named;
using ::testing::HasSubstr;

// The only problem of a plan, as "where: field: message".
std::string problem_of(const plan& p) {
  const auto problems = find_problems(p);
  if (problems.size() != 1) return std::to_string(problems.size()) + " problems";
  return problems[0].where + ": " + problems[0].field + ": " + problems[0].message;
}

std::string problem_of(rule r) {
  plan p;
  p.add(std::move(r));
  return problem_of(p);
}

TEST(Plan, OneWithoutProblemsHasNone) {
  plan p;
  p.add_batch({.id = "first"}).add_batch({.id = "second", .after = {"first"}});
  p.add(named("a", {}, "first")).add(named("b", {"a"}, "second")).add(named("c", {"second"}));
  EXPECT_TRUE(find_problems(p).empty());
  EXPECT_TRUE(find_problems(plan{}).empty());
}

TEST(Plan, ARuleHasExactlyOneBody) {
  EXPECT_EQ(problem_of(rule{.id = "a"}),
            "a: command: is missing; a rule needs one of command, shell, check");
  EXPECT_EQ(problem_of(rule{.id = "a", .run = [] {}, .shell = "true"}),
            "a: command: a rule has one of run, shell");
}

TEST(Plan, EveryFieldIsChecked) {
  using std::chrono::seconds;
  const auto with = [](auto change) {
    rule r = named("a");
    change(r);
    return problem_of(std::move(r));
  };
  EXPECT_EQ(with([](rule& r) { r.id = ""; }), ": id: is missing");
  EXPECT_EQ(with([](rule& r) { r.id = std::string(4096, 'x'); }),
            std::string(4096, 'x') + ": id: is longer than 1024 bytes");
  EXPECT_EQ(with([](rule& r) { r.id = "a\nb"; }), "a\nb: id: has a control character");
  EXPECT_EQ(with([](rule& r) { r.id = "\xFF"; }), "\xFF: id: is not UTF-8");
  EXPECT_EQ(with([](rule& r) { r.timeout = seconds(-1); }), "a: timeout: must not be negative");
  EXPECT_EQ(with([](rule& r) { r.cost = seconds(-1); }), "a: cost: must not be negative");
  EXPECT_EQ(with([](rule& r) { r.retry_delay = seconds(-1); }),
            "a: retry_delay: must not be negative");
  EXPECT_EQ(with([](rule& r) { r.retries = 101; }), "a: retries: must be between 0 and 100");
  EXPECT_EQ(with([](rule& r) { r.weight = 0; }), "a: weight: must be at least 1");
  EXPECT_EQ(with([](rule& r) { r.env = {{"A=B", "c"}}; }),
            "a: env: \"A=B\" is no name of a variable");
  EXPECT_EQ(with([](rule& r) { r.env = {{"", "c"}}; }), "a: env: \"\" is no name of a variable");
  EXPECT_EQ(with([](rule& r) {
              r.shell = "";
              r.command = {""};
            }),
            "a: command: has no program");
}

TEST(Plan, IdsAreUniqueAmongRulesAndBatches) {
  plan rules;
  rules.add(named("a")).add(named("a"));
  EXPECT_EQ(problem_of(rules), "a: id: is the id of another rule too; ids are unique");
  plan both;
  both.add_batch({.id = "a"}).add(named("a"));
  EXPECT_EQ(problem_of(both), "a: id: is the id of a batch too; ids are unique");
}

TEST(Plan, AnUnknownNameComesWithTheOneThatWasProbablyMeant) {
  plan p;
  p.add(named("AR001")).add(named("AR002", {"AR0O1"}));
  EXPECT_EQ(problem_of(p),
            "AR002: after: there is no rule or batch \"AR0O1\"; did you mean \"AR001\"?");
  plan batches;
  batches.add_batch({.id = "structure"}).add(named("a", {}, "strcuture"));
  EXPECT_EQ(problem_of(batches),
            "a: batch: there is no batch \"strcuture\"; did you mean \"structure\"?");
}

TEST(Plan, ACycleIsWrittenOut) {
  plan p;
  p.add(named("free")).add(named("c", {"b"})).add(named("a", {"c"})).add(named("b", {"a"}));
  EXPECT_EQ(problem_of(p),
            "a: after: these wait for each other, each before the next: "
            "a -> b -> c -> a");
}

TEST(Plan, ACycleThroughBatchesNamesThem) {
  plan p;
  p.add_batch({.id = "x", .after = {"y"}}).add_batch({.id = "y"});
  p.add(named("r", {}, "x")).add(named("s", {"r"}, "y"));
  EXPECT_EQ(problem_of(p),
            "r: after: these wait for each other, each before the next: "
            "r -> s -> y -> x -> r");
}

TEST(Plan, NothingComesAfterItself) {
  plan p;
  p.add(named("a", {"a"}));
  EXPECT_EQ(problem_of(p), "a: after: comes after itself");
  plan own;
  own.add_batch({.id = "x"}).add(named("a", {"x"}, "x"));
  EXPECT_EQ(problem_of(own), "a: after: comes after its own batch \"x\"");
}

TEST(Plan, AnErrorListsTwentyProblemsAndCountsTheRest) {
  plan p;
  for (int i = 0; i < 25; ++i) p.add({.id = "r" + std::to_string(i)});
  try {
    const batch::graph shape(p);
    FAIL() << "no plan_error";
  } catch (const plan_error& thrown) {
    EXPECT_EQ(thrown.problems().size(), 25U);
    EXPECT_THAT(thrown.what(), HasSubstr("r19: command: is missing"));
    EXPECT_THAT(thrown.what(), ::testing::Not(HasSubstr("r20")));
    EXPECT_THAT(thrown.what(), HasSubstr("and 5 more"));
  }
}

TEST(Graph, EdgesGrowWithThePlanAndNotWithTheProductOfItsBatches) {
  plan p;
  p.add_batch({.id = "x"}).add_batch({.id = "y", .after = {"x"}});
  for (int i = 0; i < 1000; ++i) p.add(named("x" + std::to_string(i), {}, "x"));
  for (int i = 0; i < 1000; ++i) p.add(named("y" + std::to_string(i), {}, "y"));
  const batch::graph shape(p);
  std::size_t edges = 0;
  for (batch::node n = 0; n < shape.node_count(); ++n) edges += shape.successors(n).size();
  EXPECT_LT(edges, 4000U);
}

TEST(Graph, ABatchWithoutRulesStillKeepsTheOrderOfItsNeighbours) {
  plan p;
  p.add_batch({.id = "x"})
      .add_batch({.id = "empty", .after = {"x"}})
      .add_batch({.id = "z", .after = {"empty"}});
  p.add(named("last", {}, "z")).add(named("first", {}, "x"));
  const batch::graph shape(p);
  const auto& order = shape.order();
  EXPECT_LT(std::ranges::find(order, 1U), std::ranges::find(order, 0U));
}

}  // namespace
}  // namespace weft
