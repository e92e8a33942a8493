#include <utility>

#include <weft/batch/benchmark.hpp>
#include <weft/batch/schedule.hpp>
#include <weft/batch/slack.hpp>

namespace weft::batch {
namespace {

schedule replayed(const graph& shape, const run_record& record, const variant& how) {
  costs expected;
  std::vector<demand> demands;
  for (const rule_record& rule : record.rules) {
    expected.push_back(rule.predicted);
    demands.push_back({.weight = rule.weight});
  }
  const dispatch_options options{.workers = record.workers,
                                 .policy = how.policy,
                                 .barriers = how.barriers,
                                 .fixed = how.fixed};
  return simulate(shape, taken_by(record), std::move(expected), std::move(demands), options);
}

bool has_several_batches(const run_record& record) {
  for (const rule_record& rule : record.rules) {
    if (rule.batch != record.rules.front().batch) return true;
  }
  return false;
}

// Rules may come after rules in a way that batches as a whole could not.
bool allows_barriers(const run_record& record) {
  try {
    const graph shape = graph_of(record);
    const dispatcher tried(shape, taken_by(record), std::vector<demand>(record.rules.size()),
                           {.workers = record.workers, .barriers = true});
    return true;
  } catch (const plan_error&) {
    return false;
  }
}

}  // namespace

double replay(const run_record& record, const variant& how) {
  return replayed(graph_of(record), record, how).makespan;
}

std::vector<variant> all_variants(const run_record& record) {
  std::vector<variant> all;
  for (const run_policy each : {run_policy::critical_path, run_policy::stealing,
                                run_policy::largest_first, run_policy::fifo}) {
    all.push_back({.name = std::string(name_of(each)), .mode = "adaptive", .policy = each});
  }
  if (has_several_batches(record) && allows_barriers(record)) {
    all.push_back({.name = "batches, by size",
                   .mode = "adaptive",
                   .policy = run_policy::largest_first,
                   .barriers = true});
    all.push_back({.name = "batches, fixed",
                   .mode = "fixed",
                   .policy = run_policy::fifo,
                   .barriers = true,
                   .fixed = true});
  }
  return all;
}

}  // namespace weft::batch
