#include "batch/idle_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::batch {
namespace {

// Every situation as a change from the one before.
std::vector<situation> changes_of(const run_record& record, double elapsed) {
  std::vector<situation> changes;
  const auto during = [&](double begin, double end, situation what) {
    if (end <= begin) return;
    what.since = begin;
    changes.push_back(what);
    changes.push_back({.since = end,
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
  changes.push_back({.since = 0, .limit = limit});
  for (const batch_record& batch : batches) {
    changes.push_back({.since = batch.began, .limit = *batch.workers - limit});
    limit = *batch.workers;
  }
  std::ranges::sort(changes, {}, &situation::since);
  return changes;
}

}  // namespace

std::vector<situation> situations_of(const run_record& record, double elapsed) {
  std::vector<situation> made = {{}};
  for (const situation& change : changes_of(record, elapsed)) {
    situation next = made.back();
    next.since = std::clamp(change.since, made.back().since, std::max(made.back().since, elapsed));
    next.busy += change.busy;
    next.ready += change.ready;
    next.held += change.held;
    next.pending += change.pending;
    next.limit += change.limit;
    if (next.since > made.back().since) {
      made.push_back(next);
    } else {
      made.back() = next;
    }
  }
  return made;
}

idle_workers idle_workers_in(const situation& now, double workers) {
  idle_workers idle;
  double left = std::max(0.0, workers - now.busy);
  const auto charge = [&](double& to, double wanted) {
    const double share = std::min(left, std::max(0.0, wanted));
    to += share;
    left -= share;
  };
  const double beyond_limit = workers - std::max(now.limit, now.busy);
  charge(idle.beyond_limit, std::min(beyond_limit, now.ready + now.held));
  charge(idle.overhead, now.ready);
  charge(idle.held, now.held);
  (now.pending > 0.5 ? idle.dependency : idle.tail) += left;
  return idle;
}

gap_parts idle_time(const run_record& record, double elapsed) {
  gap_parts sum;
  const std::vector<situation> all = situations_of(record, elapsed);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double until = i + 1 < all.size() ? all[i + 1].since : elapsed;
    const double share = std::max(0.0, until - all[i].since) / record.workers;
    const idle_workers idle = idle_workers_in(all[i], record.workers);
    sum.dependency += idle.dependency * share;
    sum.tail += idle.tail * share;
    sum.admission += (idle.beyond_limit + idle.held) * share;
    sum.overhead += idle.overhead * share;
  }
  return sum;
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
