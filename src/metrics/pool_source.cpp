#include "metrics/pool_source.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <weft/core/lane.hpp>
#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {
namespace {

constexpr std::array<double, 11> depth_bounds = {0,  1,   2,    5,      10,     20,
                                                 50, 100, 1000, 10'000, 100'000};

}  // namespace

depth_samples::depth_samples() : depths_(depth_bounds) {}

void depth_samples::collect(snapshot& into) const {
  into.set(metric::scheduler_queue_depth, depths_);
}

void collect_pool(snapshot& into, const pool_stats& stats) {
  std::uint64_t injected = 0;
  for (const worker_stats& worker : stats.per_worker) injected += worker.injected;
  const auto waiting =
      std::ranges::count(stats.per_worker, worker_activity::waiting, &worker_stats::activity);
  const auto lent = std::ranges::count(stats.per_worker, true, &worker_stats::lent);

  into.count_from(stats.since);
  into.set(metric::scheduler_tasks_spawned, stats.spawned);
  into.set(metric::scheduler_tasks_completed, stats.executed);
  into.set(metric::scheduler_tasks_stolen, stats.stolen);
  into.set(metric::scheduler_tasks_injected, injected);
  into.set(metric::scheduler_tasks_dropped, stats.dropped);
  into.set(metric::scheduler_tasks_queued, stats.queue_depth);
  into.set(metric::scheduler_workers_limit, stats.workers);
  into.set(metric::scheduler_workers_idle, stats.idle_workers);
  into.set(metric::scheduler_workers_waiting, waiting);
  into.set(metric::scheduler_workers_lent, lent);
  into.set(metric::scheduler_workers_parks, stats.parks);
  into.set(metric::scheduler_workers_wakes, stats.wakes);
}

void pool_source::collect(snapshot& into) {
  const pool_stats stats = pool_.stats();
  collect_pool(into, stats);
  depths_.record(stats);
  depths_.collect(into);
  into.set(metric::scheduler_task_schedule_latency, probe_->latencies());
}

void pool_source::sample() {
  depths_.record(pool_.stats());
  probe_->send(lane_of(pool_));
}

}  // namespace weft::telemetry
