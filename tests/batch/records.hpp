#pragma once

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

}  // namespace weft::test
