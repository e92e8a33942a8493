#include <weft/batch/schedule.hpp>

#include <algorithm>
#include <queue>
#include <utility>

namespace weft::batch {
namespace {

struct ending {
  double when;
  unsigned worker;
  node rule;

  // For a heap whose top is the next to end; the worker decides where times are equal.
  friend bool operator<(const ending& a, const ending& b) {
    return a.when != b.when ? a.when > b.when : a.worker > b.worker;
  }
};

}  // namespace

schedule simulate(const graph& of, std::span<const double> actual, costs expected,
                  std::vector<demand> demands, const dispatch_options& options,
                  const progress& so_far) {
  dispatcher decide(of, std::move(expected), std::move(demands), options);
  schedule made;
  made.rules.resize(of.rule_count());
  std::priority_queue<ending> running;
  std::vector<bool> busy(options.workers, false);

  const auto offer_to_all = [&](double now) {
    for (unsigned worker = 0; worker < options.workers; ++worker) {
      if (busy[worker]) continue;
      const auto given = decide.next(worker, now);
      if (!given) continue;
      const double end = now + actual[given->rule];
      made.rules[given->rule] = {.worker = worker,
                                 .ready = given->ready,
                                 .start = now,
                                 .end = end,
                                 .stolen_from = given->stolen_from};
      made.makespan = std::max(made.makespan, end);
      busy[worker] = true;
      running.push({end, worker, given->rule});
    }
  };

  for (const node rule : so_far.finished) decide.already_finished(rule, true);
  for (const progress::running_rule& each : so_far.running) {
    decide.already_running(each.rule, each.left);
    made.rules[each.rule] = {.worker = each.worker, .end = each.left};
    made.makespan = std::max(made.makespan, each.left);
    busy[each.worker] = true;
    running.push({each.left, each.worker, each.rule});
  }
  decide.begin(0);
  offer_to_all(0);
  while (!running.empty()) {
    const ending next = running.top();
    running.pop();
    busy[next.worker] = false;
    decide.finished(next.rule, true, next.when);
    offer_to_all(next.when);
  }
  return made;
}

}  // namespace weft::batch
