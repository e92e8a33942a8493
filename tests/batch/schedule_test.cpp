#include <weft/batch/schedule.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <batch/plans.hpp>
#include <support/property.hpp>

namespace weft::batch {
namespace {

using test::light;
using test::make_layered;
using test::named;

constexpr std::array policies = {run_policy::critical_path, run_policy::stealing,
                                 run_policy::largest_first, run_policy::fifo};

// A random plan with weights and memory, and what its rules take.
struct world {
  test::layered made;
  std::vector<demand> demands;
  dispatch_options options;
};

world random_world(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::vector<std::size_t> sizes(1 + below(5));
  for (std::size_t& size : sizes) size = below(12);
  world w{.made = make_layered(sizes, below(4), 1.0, seed), .demands = {}, .options = {}};
  w.options.workers = static_cast<unsigned>(1 + below(8));
  w.options.policy = policies[below(policies.size())];
  w.options.barriers = below(2) == 0;
  w.options.fixed = below(2) == 0;
  w.options.memory = below(2) == 0 ? 0 : 100;
  for (std::size_t i = 0; i < w.made.plan.rules().size(); ++i) {
    w.demands.push_back({.weight = static_cast<unsigned>(1 + below(3)), .memory = below(120)});
  }
  return w;
}

// What runs at a time.
struct load {
  unsigned weight = 0;
  std::uint64_t memory = 0;
  unsigned rules = 0;
  unsigned rules_with_memory = 0;
};

load load_at(const schedule& s, const world& w, double time) {
  load sum;
  for (std::size_t i = 0; i < s.rules.size(); ++i) {
    if (s.rules[i].start > time || s.rules[i].end <= time) continue;
    sum.weight += std::min(w.demands[i].weight, w.options.workers);
    sum.memory += w.demands[i].memory;
    ++sum.rules;
    sum.rules_with_memory += w.demands[i].memory > 0 ? 1 : 0;
  }
  return sum;
}

TEST(Schedule, EveryRuleRunsOnceAfterItsPredecessorsAndWithinTheLimits) {
  EXPECT_TRUE(test::holds("schedules are valid", [](std::uint64_t seed) {
    const world w = random_world(seed);
    const graph shape(w.made.plan);
    const schedule s = simulate(shape, w.made.cost, w.made.cost, w.demands, w.options);
    for (node r = 0; r < shape.rule_count(); ++r) {
      const placement& at = s.rules[r];
      RC_ASSERT(at.end == at.start + w.made.cost[r]);  // it ran: a rule that did not ends at 0
      RC_ASSERT(at.worker < w.options.workers);
      RC_ASSERT(at.ready <= at.start);
      for (const node before : shape.predecessors(r)) {
        if (!shape.is_gate(before)) RC_ASSERT(s.rules[before].end <= at.start);
      }
      const load now = load_at(s, w, at.start);
      RC_ASSERT(now.rules == 1 || now.weight <= w.options.workers);
      RC_ASSERT(now.rules_with_memory <= 1 || w.options.memory == 0 ||
                now.memory <= w.options.memory);
      for (node other = 0; other < r; ++other) {
        const placement& o = s.rules[other];
        RC_ASSERT(o.worker != at.worker || o.end <= at.start || at.end <= o.start);
      }
    }
  }));
}

TEST(Schedule, IsNeverShorterThanTheBoundNorTwiceAsLongWithoutLimits) {
  EXPECT_TRUE(test::holds("bounds", [](std::uint64_t seed) {
    const world w = random_world(seed);
    const graph shape(w.made.plan);
    dispatch_options free = w.options;
    free.barriers = false;
    free.memory = 0;
    const schedule s = simulate(shape, w.made.cost, w.made.cost, light(shape), free);
    const std::vector<unsigned> weight(shape.rule_count(), 1);
    const lower_bound bound = bound_of(shape, w.made.cost, weight, free.workers);
    RC_ASSERT(s.makespan >= bound.total() * (1 - 1e-9));
    // Graham: no schedule that leaves nobody idle beside a ready rule is longer.
    RC_ASSERT(s.makespan <= (bound.work_per_worker + bound.critical_path) * (1 + 1e-9));
  }));
}

TEST(Schedule, NoWorkerIsIdleBesideAReadyRuleWithoutLimits) {
  EXPECT_TRUE(test::holds("work is conserved", [](std::uint64_t seed) {
    world w = random_world(seed);
    w.options.barriers = false;
    w.options.memory = 0;
    const graph shape(w.made.plan);
    w.demands = light(shape);
    const schedule s = simulate(shape, w.made.cost, w.made.cost, w.demands, w.options);
    for (const placement& at : s.rules) {
      if (at.ready == at.start) continue;
      // While it waited, all workers were busy.
      RC_ASSERT(load_at(s, w, at.ready).rules == w.options.workers);
      RC_ASSERT(load_at(s, w, (at.ready + at.start) / 2).rules == w.options.workers);
    }
  }));
}

TEST(Schedule, BarriersKeepBatchesApart) {
  EXPECT_TRUE(test::holds("barriers", [](std::uint64_t seed) {
    world w = random_world(seed);
    w.options.barriers = true;
    const graph shape(w.made.plan);
    const schedule s = simulate(shape, w.made.cost, w.made.cost, w.demands, w.options);
    for (node a = 0; a < shape.rule_count(); ++a) {
      for (node b = 0; b < shape.rule_count(); ++b) {
        if (shape.batch_of(a) < shape.batch_of(b)) RC_ASSERT(s.rules[a].end <= s.rules[b].start);
      }
    }
  }));
}

// One batch of `rules` rules of a second each, on at most 8 workers, with barriers.
unsigned workers_used(std::size_t rules) {
  const test::layered made = make_layered({rules}, 0, 0.0, 1);
  const graph shape(made.plan);
  const schedule s =
      simulate(shape, made.cost, made.cost, light(shape), {.workers = 8, .barriers = true});
  unsigned most = 0;
  for (const placement& at : s.rules) most = std::max(most, at.worker + 1);
  return most;
}

TEST(Schedule, OneRuleGetsOneWorkerAndManyGetAll) {
  EXPECT_EQ(workers_used(1), 1U);
  EXPECT_EQ(workers_used(3), 2U);
  EXPECT_EQ(workers_used(6), 4U);
  EXPECT_EQ(workers_used(43), 8U);
  EXPECT_EQ(workers_used(185), 8U);
}

TEST(Schedule, AWorkerThatRunsDryStealsTheLargestFromTheOneWithTheMostLeft) {
  // What was dealt evenly by expectation turns out uneven.
  plan p;
  for (int i = 0; i < 8; ++i) p.add(named("r" + std::to_string(i)));
  const graph shape(p);
  costs actual(8, 0.1);
  actual[0] = 5;
  const schedule s = simulate(shape, actual, costs(8, 1.0), light(shape),
                              {.workers = 2, .policy = run_policy::stealing});
  const auto stolen = std::ranges::count_if(
      s.rules, [](const placement& at) { return at.stolen_from.has_value(); });
  EXPECT_EQ(stolen, 3);  // the long rule's worker was dealt four, and keeps only that one
  EXPECT_DOUBLE_EQ(s.makespan, 5.0);
}

TEST(Schedule, AHeavyRuleIsNotStarvedByLightOnesThatWouldDelayIt) {
  plan p;
  p.add(named("running")).add(named("heavy")).add(named("long")).add(named("short"));
  const graph shape(p);
  const costs cost = {1.0, 5.0, 3.0, 0.5};
  std::vector<demand> demands = light(shape);
  demands[1].weight = 2;
  // Heavy would be first by rank, but is told to be ready after `running`: use fifo.
  const schedule s =
      simulate(shape, cost, cost, demands, {.workers = 2, .policy = run_policy::fifo});
  EXPECT_DOUBLE_EQ(s.rules[3].start, 0.0);  // fits into the second that heavy has to wait
  EXPECT_DOUBLE_EQ(s.rules[1].start, 1.0);  // as soon as it has room
  EXPECT_DOUBLE_EQ(s.rules[2].start, 6.0);  // would have delayed heavy
}

TEST(Schedule, ARuleLargerThanTheMemoryRunsBesideNoneThatNeedsAny) {
  plan p;
  p.add(named("huge")).add(named("small"));
  const graph shape(p);
  const schedule s =
      simulate(shape, costs{1, 1}, costs{1, 1}, {{1, 500}, {1, 10}}, {.workers = 2, .memory = 100});
  EXPECT_GE(s.rules[1].start, s.rules[0].end);
}

struct comparison {
  double fixed = 0;        // seconds; fixed workers, barriers, fifo
  double path = 0;         // seconds; as ready, by the critical path
  double utilisation = 0;  // of the latter
  double gap = 0;
};

comparison compare_on_source_batches(std::uint64_t seed) {
  const test::layered made = make_layered(test::source_batches, 3, 1.0, seed);
  const graph shape(made.plan);
  const auto makespan = [&](const dispatch_options& options) {
    return simulate(shape, made.cost, made.cost, light(shape), options).makespan;
  };
  comparison c;
  c.fixed = makespan({.workers = 8, .policy = run_policy::fifo, .barriers = true, .fixed = true});
  c.path = makespan({.workers = 8});
  const double work = std::accumulate(made.cost.begin(), made.cost.end(), 0.0);
  c.utilisation = work / (8 * c.path);
  const std::vector<unsigned> weight(shape.rule_count(), 1);
  c.gap = c.path / bound_of(shape, made.cost, weight, 8).total();
  return c;
}

TEST(Schedule, CriticalPathBeatsFixedWorkersWithBarriersOnTheSourceBatches) {
  comparison mean;
  constexpr int seeds = 20;
  for (int seed = 1; seed <= seeds; ++seed) {
    const comparison c = compare_on_source_batches(static_cast<std::uint64_t>(seed));
    mean.fixed += c.fixed / seeds;
    mean.path += c.path / seeds;
    mean.utilisation += c.utilisation / seeds;
    mean.gap += c.gap / seeds;
  }
  EXPECT_LE(mean.path, 0.80 * mean.fixed);
  EXPECT_GE(mean.utilisation, 0.93);
  EXPECT_LE(mean.gap, 1.07);
}

TEST(Schedule, TheTableOfWorkersByBatchSizeNeitherHelpsNorHurts) {
  double ratio = 0;
  constexpr int seeds = 20;
  for (int seed = 1; seed <= seeds; ++seed) {
    const test::layered made =
        make_layered(test::source_batches, 3, 1.0, static_cast<std::uint64_t>(seed));
    const graph shape(made.plan);
    const auto makespan = [&](bool fixed) {
      return simulate(shape, made.cost, made.cost, light(shape),
                      {.workers = 8, .barriers = true, .fixed = fixed})
          .makespan;
    };
    ratio += makespan(false) / makespan(true) / seeds;
  }
  EXPECT_NEAR(ratio, 1.0, 0.03);
}

TEST(Schedule, RunsOnAnyNumberOfWorkers) {
  const test::layered made = make_layered(test::source_batches, 3, 1.0, 1);
  const graph shape(made.plan);
  const std::vector<unsigned> weight(shape.rule_count(), 1);
  for (const unsigned workers : {1U, 2U, 8U, 16U, 32U}) {
    for (const run_policy policy : policies) {
      for (const bool warm : {false, true}) {
        const costs expected = warm ? made.cost : costs(shape.rule_count(), 0.01);
        const schedule s = simulate(shape, made.cost, expected, light(shape),
                                    {.workers = workers, .policy = policy});
        const lower_bound bound = bound_of(shape, made.cost, weight, workers);
        EXPECT_GE(s.makespan, bound.total() * (1 - 1e-9));
        EXPECT_LE(s.makespan, bound.work_per_worker + bound.critical_path);
      }
    }
  }
}

// How far a run has come that goes as planned.
progress progress_at(const schedule& planned, double now) {
  progress made;
  for (node r = 0; r < planned.rules.size(); ++r) {
    const placement& at = planned.rules[r];
    if (at.end <= now) {
      made.finished.push_back(r);
    } else if (at.start <= now) {
      made.running.push_back({r, at.worker, at.end - now});
    }
  }
  return made;
}

// With barriers: the workers that the batch got which is under way.
std::optional<unsigned> worker_limit_at(const world& w, const graph& shape, const progress& done) {
  dispatcher decide(shape, w.made.cost, w.demands, w.options);
  const auto batches_begun = [&] {
    std::size_t begun = 0;
    for (const progress::running_rule& each : done.running) {
      begun = std::max<std::size_t>(begun, shape.batch_of(each.rule) + 1);
    }
    return begun;
  }();
  if (!w.options.barriers || batches_begun == 0) return std::nullopt;
  for (node r = 0; r < shape.rule_count(); ++r) {
    if (shape.batch_of(r) + 1 < batches_begun) decide.already_finished(r, true);
  }
  decide.begin(0);
  return decide.worker_limit();
}

TEST(Schedule, WhatIsLeftOfARunIsTheRunWithoutWhatIsDone) {
  EXPECT_TRUE(test::holds("the rest is the rest", [](std::uint64_t seed) {
    world w = random_world(seed);
    // A queue in order of arrival, or one for each worker, is not known from what has ended.
    w.options.policy = seed % 2 == 0 ? run_policy::critical_path : run_policy::largest_first;
    for (double& cost : w.made.cost) cost = std::ceil(64 * cost) / 64;  // sums are exact
    const graph shape(w.made.plan);
    const schedule whole = simulate(shape, w.made.cost, w.made.cost, w.demands, w.options);
    const double now = std::floor(whole.makespan * static_cast<double>(seed % 101) / 101 * 64) / 64;
    progress so_far = progress_at(whole, now);
    so_far.worker_limit = worker_limit_at(w, shape, so_far);
    const schedule rest = simulate(shape, w.made.cost, w.made.cost, w.demands, w.options, so_far);
    RC_ASSERT(rest.makespan == whole.makespan - now);
  }));
}

TEST(Schedule, ABatchUnderWayKeepsItsWorkers) {
  // Ten rules got four workers; the last three would get two if they were a batch of their own.
  const test::layered made = make_layered({10}, 0, 0.0, 1);
  const graph shape(made.plan);
  progress so_far{.worker_limit = 4};
  for (node r = 0; r < 7; ++r) so_far.finished.push_back(r);
  const costs second(10, 1.0);
  const schedule rest =
      simulate(shape, second, second, light(shape), {.workers = 8, .barriers = true}, so_far);
  EXPECT_DOUBLE_EQ(rest.makespan, 1);
}

TEST(Schedule, WhatIsTriedAgainLaterIsWaitedFor) {
  plan p;
  p.add(named("a")).add(named("b")).add(named("c", {"a"}));
  const graph shape(p);
  const costs second(3, 1.0);
  const progress so_far{.postponed = {{.rule = 0, .left = 5}}};
  const schedule rest = simulate(shape, second, second, light(shape), {.workers = 1}, so_far);
  EXPECT_DOUBLE_EQ(rest.rules[1].start, 0);
  EXPECT_DOUBLE_EQ(rest.rules[0].start, 5);
  EXPECT_DOUBLE_EQ(rest.makespan, 7);
}

}  // namespace
}  // namespace weft::batch
