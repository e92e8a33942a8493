#include <weft/batch/schedule.hpp>

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace weft::batch {
namespace {

// A rule ends on a worker, or is ready again on none.
struct event {
  double when;
  unsigned worker;
  node rule;

  // For a heap whose top is the next; the worker decides where times are equal.
  friend bool operator<(const event& a, const event& b) {
    return a.when != b.when ? a.when > b.when : a.worker > b.worker;
  }
};

constexpr unsigned no_worker = std::numeric_limits<unsigned>::max();

}  // namespace

schedule simulate(const graph& of, std::span<const double> actual, costs expected,
                  std::vector<demand> demands, const dispatch_options& options,
                  const progress& so_far) {
  dispatcher decide(of, std::move(expected), std::move(demands), options);
  schedule made;
  made.rules.resize(of.rule_count());
  std::priority_queue<event> coming;
  std::vector<bool> busy(options.workers, false);

  const auto offer_to_all = [&](double now) {
    for (unsigned worker = 0; worker < options.workers; ++worker) {
      if (busy[worker]) continue;
      const auto given = decide.next(worker, now);
      if (!given) return;  // there is nothing for this one, nor for the others
      const double end = now + actual[given->rule];
      made.rules[given->rule] = {.worker = worker,
                                 .ready = given->ready,
                                 .start = now,
                                 .end = end,
                                 .stolen_from = given->stolen_from};
      made.makespan = std::max(made.makespan, end);
      busy[worker] = true;
      coming.push({end, worker, given->rule});
    }
  };

  for (const node rule : so_far.finished) decide.already_finished(rule, true);
  for (const progress::running_rule& each : so_far.running) {
    decide.already_running(each.rule, each.left);
    made.rules[each.rule] = {.worker = each.worker, .end = each.left};
    made.makespan = std::max(made.makespan, each.left);
    busy[each.worker] = true;
    coming.push({each.left, each.worker, each.rule});
  }
  for (const progress::postponed_rule& each : so_far.postponed) {
    decide.already_postponed(each.rule);
    coming.push({each.left, no_worker, each.rule});
  }
  if (so_far.worker_limit) decide.already_limited(*so_far.worker_limit);
  decide.begin(0);
  offer_to_all(0);
  while (!coming.empty()) {
    const event next = coming.top();
    coming.pop();
    if (next.worker == no_worker) {
      decide.ready_again(next.rule, next.when);
    } else {
      busy[next.worker] = false;
      decide.finished(next.rule, true, next.when);
    }
    offer_to_all(next.when);
  }
  return made;
}

}  // namespace weft::batch
