#include "batch/idle_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::batch {
namespace {

// A change of what is going on, at a time.
struct change {
  double when = 0;
  double busy = 0;     // workers
  double ready = 0;    // rules that nothing keeps from running
  double held = 0;     // workers that rules without room want
  double pending = 0;  // rules that wait for others
  double limit = 0;    // workers that may run
};

std::vector<change> changes_of(const run_record& record, double elapsed) {
  std::vector<change> changes;
  const auto during = [&](double begin, double end, change what) {
    if (end <= begin) return;
    what.when = begin;
    changes.push_back(what);
    changes.push_back({.when = end,
                       .busy = -what.busy,
                       .ready = -what.ready,
                       .held = -what.held,
                       .pending = -what.pending,
                       .limit = -what.limit});
  };
  for (const rule_record& rule : record.rules) {
    const double weight = std::min(rule.weight, record.workers);
    for (const attempt_record& attempt : rule.earlier) {
      during(attempt.start, attempt.start + attempt.duration, {.busy = weight});
    }
    if (has_run(rule.status)) {
      const double held = rule.held.value_or(rule.start);
      during(0, rule.ready, {.pending = 1});
      during(rule.ready, held, {.ready = 1});
      during(held, rule.start, {.held = weight});
      during(rule.start, rule.end(), {.busy = weight});
    } else if (rule.status == rule_status::waiting) {
      during(0, elapsed, {.pending = 1});
    }
  }
  // With barriers the limit is the one of the batch that began last.
  std::vector<batch_record> batches;
  for (const batch_record& batch : record.batches) {
    if (batch.workers) batches.push_back(batch);
  }
  std::ranges::sort(batches, {}, &batch_record::began);
  double limit = record.workers;
  changes.push_back({.when = 0, .limit = limit});
  for (const batch_record& batch : batches) {
    changes.push_back({.when = batch.began, .limit = *batch.workers - limit});
    limit = *batch.workers;
  }
  std::ranges::sort(changes, {}, &change::when);
  return changes;
}

}  // namespace

gap_parts idle_time(const run_record& record, double elapsed) {
  gap_parts idle;
  change now;
  const auto account = [&](double seconds) {
    const double workers = record.workers;
    double left = std::max(0.0, workers - now.busy) * seconds / workers;
    const auto charge = [&](double& part, double wanted) {
      const double share = std::min(left, std::max(0.0, wanted) * seconds / workers);
      part += share;
      left -= share;
    };
    const double beyond_limit = workers - std::max(now.limit, now.busy);
    charge(idle.admission, std::min(beyond_limit, now.ready + now.held));
    charge(idle.overhead, now.ready);
    charge(idle.admission, now.held);
    (now.pending > 0.5 ? idle.dependency : idle.tail) += left;
  };
  for (const change& next : changes_of(record, elapsed)) {
    const double until = std::clamp(next.when, now.when, elapsed);
    account(until - now.when);
    now.when = until;
    now.busy += next.busy;
    now.ready += next.ready;
    now.held += next.held;
    now.pending += next.pending;
    now.limit += next.limit;
  }
  account(std::max(0.0, elapsed - now.when));
  return idle;
}

gap_parts without_unavoidable(gap_parts idle, double unavoidable) {
  const auto take_from_both = [&](double& a, double& b) {
    const double sum = a + b;
    const double taken = std::min(sum, unavoidable);
    if (taken <= 0) return;
    const double kept = (sum - taken) / sum;
    a *= kept;
    b *= kept;
    unavoidable -= taken;
  };
  take_from_both(idle.dependency, idle.tail);
  take_from_both(idle.admission, idle.overhead);
  return idle;
}

}  // namespace weft::batch
