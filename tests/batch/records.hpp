#pragma once

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <weft/batch/record.hpp>
#include <weft/batch/schedule.hpp>

#include <batch/plans.hpp>

namespace weft::test {

// A rule that became ready, and began, at `start`.
inline rule_record ran(std::string id, unsigned worker, double start, double duration,
                       std::vector<std::string> after = {}) {
  rule_record made{.id = std::move(id)};
  made.after = std::move(after);
  made.status = rule_status::passed;
  made.worker = worker;
  made.ready = start;
  made.start = start;
  made.duration = duration;
  made.predicted = duration;
  made.attempts = 1;
  return made;
}

inline run_record record_of(unsigned workers, double elapsed, std::vector<rule_record> rules) {
  run_record made{.id = "run", .plan = "plan"};
  made.workers = workers;
  made.elapsed = elapsed;
  made.batches = {{.id = ""}};
  made.rules = std::move(rules);
  return made;
}

// A run of fifteen rules of weights 1 to 3 on 1 to 6 workers, under any policy.
inline run_record random_run(std::uint64_t seed) {
  const layered made = make_layered({3, 7, 5}, seed % 4, 1.0, seed);
  const batch::graph shape(made.plan);
  std::vector<batch::demand> demands(shape.rule_count());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    demands[i].weight = static_cast<unsigned>(1 + (seed + i) % 3);
  }
  const auto workers = static_cast<unsigned>(1 + seed / 7 % 6);
  const bool barriers = seed % 5 == 0;
  const auto policy = static_cast<run_policy>(seed / 3 % 4);
  const batch::schedule planned =
      batch::simulate(shape, made.cost, made.cost, demands,
                      {.workers = workers, .policy = policy, .barriers = barriers});
  run_record record = record_of(workers, planned.makespan, {});
  record.policy = policy;
  for (batch::node r = 0; r < shape.rule_count(); ++r) {
    const rule& declared = made.plan.rules()[r];
    const batch::placement& at = planned.rules[r];
    rule_record rule = ran(declared.id, at.worker, at.start, at.end - at.start, declared.after);
    rule.ready = at.ready;
    rule.weight = demands[r].weight;
    rule.stolen_from = at.stolen_from;
    record.rules.push_back(std::move(rule));
  }
  return record;
}

// A run that cannot have been, but whose log can be read: rules overlap, end before they begin to
// be ready, were stolen by workers that there are not.
inline run_record senseless_run(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  const auto seconds = [&] { return std::ldexp(1.0, static_cast<int>(random() % 34)) - 1; };
  const auto worker = [&] { return static_cast<unsigned>(random() % 9); };
  run_record record =
      record_of(static_cast<unsigned>(1 + random() % 4), random() % 3 == 0 ? 0 : seconds(), {});
  record.started = seconds();
  record.policy = static_cast<run_policy>(random() % 4);
  record.barriers = random() % 2 == 0;
  record.ending = static_cast<run_ending>(random() % 5);
  record.batches = {{.id = "x", .workers = worker(), .began = seconds()}, {.id = ""}};
  record.steal_attempts = {random(), random()};
  for (std::size_t i = 0; i < random() % 9; ++i) {
    rule_record rule = ran("r" + std::to_string(i), worker(), seconds(), seconds());
    if (i > 0 && random() % 2 == 0) rule.after = {"r" + std::to_string(random() % i), "unknown"};
    rule.status = static_cast<rule_status>(random() % 7);
    rule.batch = random() % 2 == 0 ? "x" : "";
    rule.weight = random() % 4 == 0 ? 4'000'000'000U : 1 + worker();
    rule.ready = seconds();
    if (random() % 2 == 0) rule.held = seconds();
    rule.stolen_from = worker();
    rule.attempts = worker();
    rule.peak_rss = std::uint64_t{random()} << (random() % 33);
    rule.earlier = {{.worker = worker(), .start = seconds(), .duration = seconds()}};
    record.rules.push_back(std::move(rule));
  }
  return record;
}

}  // namespace weft::test
