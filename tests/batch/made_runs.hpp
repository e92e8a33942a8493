#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <weft/batch/history.hpp>
#include <weft/batch/record.hpp>
#include <weft/batch/schedule.hpp>

#include <batch/plans.hpp>

namespace weft::test {

struct made_run_options {
  std::vector<std::size_t> batches = source_batches;
  std::size_t parents = 2;
  unsigned workers = 8;
  run_policy policy = run_policy::stealing;
  std::uint64_t seed = 1;
};

// The record of a run that the dispatcher made of a layered plan, in simulated time: every rule
// passed, and what was expected of it was off by up to a factor of three.
inline run_record make_run(const made_run_options& how = {}) {
  const layered made = make_layered(how.batches, how.parents, 1.0, how.seed);
  const batch::graph shape(made.plan);
  std::mt19937_64 random(how.seed);
  std::uniform_real_distribution<double> off(1.0 / 3, 3);
  batch::costs expected = made.cost;
  for (double& cost : expected) cost *= off(random);
  const batch::schedule planned = batch::simulate(shape, made.cost, expected, light(shape),
                                                  {.workers = how.workers, .policy = how.policy});

  run_record record{.id = "20240229-120000.000-made", .plan = "made"};
  record.started = 1709208000;
  record.workers = how.workers;
  record.policy = how.policy;
  record.elapsed = planned.makespan;
  record.ending = run_ending::complete;
  for (std::size_t b = 0; b < how.batches.size(); ++b) {
    record.batches.push_back({.id = "b" + std::to_string(b), .name = "Batch " + std::to_string(b)});
  }
  for (batch::node r = 0; r < shape.rule_count(); ++r) {
    const batch::placement& at = planned.rules[r];
    rule_record rule{.id = made.plan.rules()[r].id};
    rule.batch = made.plan.rules()[r].batch;
    rule.after = made.plan.rules()[r].after;
    rule.predicted = expected[r];
    rule.source = cost_source::profile;
    rule.status = rule_status::passed;
    rule.ready = at.ready;
    rule.start = at.start;
    rule.duration = at.end - at.start;
    rule.worker = at.worker;
    rule.stolen_from = at.stolen_from;
    rule.attempts = 1;
    record.rules.push_back(std::move(rule));
  }
  return record;
}

// A few rules of it fail, one is repeated, one comes after a failure and is skipped.
inline void break_rules(run_record& record) {
  rule_record& failed = record.rules[record.rules.size() / 2];
  failed.status = rule_status::failed;
  failed.exit_code = 3;
  failed.message = "exit code 3";
  failed.output = "checked shard 1\nledger 17: balance differs\n";
  rule_record& late = record.rules[record.rules.size() / 3];
  late.status = rule_status::timed_out;
  late.message = "timed out after 0.3 s";
  rule_record& flaky = record.rules[record.rules.size() / 4];
  flaky.status = rule_status::flaky;
  flaky.attempts = 2;
  flaky.earlier = {{.worker = flaky.worker, .start = flaky.start, .duration = flaky.duration / 2}};
  flaky.start += flaky.duration / 2;
  flaky.duration /= 2;
  rule_record& skipped = record.rules.back();
  skipped.status = rule_status::skipped;
  skipped.skipped_for = failed.id;
}

// The given run and others before it, in which everything took a little more or less.
inline batch::history make_history(const run_record& record, std::size_t runs) {
  batch::history past;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> off(0.7, 1.3);
  for (std::size_t i = 0; i + 1 < runs; ++i) {
    run_record before = record;
    before.id = "before-" + std::to_string(i);
    for (rule_record& rule : before.rules) rule.duration *= off(random);
    past.add(before);
  }
  past.add(record);
  return past;
}

}  // namespace weft::test
