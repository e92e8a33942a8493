#include "metrics/executor_source.hpp"

#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {

void executor_source::collect(snapshot& into) {
  const executor_stats stats = executor_.stats();
  into.count_from(stats.since);
  into.set(metric::executor_workers_current, stats.workers);
  into.set(metric::executor_workers_min, stats.min_workers);
  into.set(metric::executor_workers_max, stats.max_workers);
  for (const resize_count& r : stats.resizes) {
    into.set(metric::executor_resizes, r.count, {r.up ? "up" : "down", name(r.reason)});
  }
  into.set(metric::executor_items_completed, stats.items);
  into.set(metric::executor_stalls, stats.stalls);
  into.set(metric::executor_tasks_unfinished, stats.tasks);
  into.set(metric::executor_maps_unfinished, stats.maps);
  into.set(metric::executor_memory_short, stats.short_of_memory ? 1 : 0);
  if (stats.pool) {
    collect_pool(into, *stats.pool);
    depths_.record(*stats.pool);
    depths_.collect(into);
  }
}

void executor_source::sample() {
  if (const executor_stats stats = executor_.stats(); stats.pool) depths_.record(*stats.pool);
}

}  // namespace weft::telemetry
