#include <memory>
#include <utility>

#include <weft/io/hybrid.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/schema.hpp>

#include "metrics/pool_source.hpp"
#include "metrics/registry.hpp"

namespace weft {
namespace telemetry {
namespace {

class hybrid_source final : public source {
 public:
  explicit hybrid_source(hybrid_scheduler& what) : scheduler_(what) {}

  void collect(snapshot& into) override {
    const hybrid_stats stats = scheduler_.stats();
    collect_pool(into, stats.cpu);
    depths_.record(stats.cpu);
    depths_.collect(into);
    into.set(metric::scheduler_task_schedule_latency, probe_->latencies());

    into.count_from(stats.cpu.since);  // its lanes are made with it
    into.set(metric::hybrid_tasks_spawned, stats.spawned);
    into.set(metric::hybrid_tasks_completed, stats.completed);
    into.set(metric::hybrid_tasks_live, stats.live);
    into.set(metric::hybrid_io_threads, stats.io_threads, {to_string(stats.engine)});
    into.set(metric::hybrid_blocking_threads_live, stats.blocking.threads);
    into.set(metric::hybrid_blocking_threads_idle, stats.blocking.idle);
    into.set(metric::hybrid_blocking_threads_started, stats.blocking.started_total);
    into.set(metric::hybrid_blocking_jobs_running, stats.blocking.running);
    into.set(metric::hybrid_blocking_jobs_waiting, stats.blocking.waiting);
    into.set(metric::hybrid_blocking_jobs_refused, stats.blocking.refused);
    into.set(metric::hybrid_blocking_jobs_run_by_callers, stats.blocking.run_by_callers);
  }

  void sample() override {
    depths_.record(scheduler_.stats().cpu);
    probe_->send(lane_of(scheduler_.cpu_pool()));
  }

 private:
  hybrid_scheduler& scheduler_;
  depth_samples depths_;
  std::shared_ptr<latency_probe> probe_ = std::make_shared<latency_probe>();
};

}  // namespace
}  // namespace telemetry

metrics_entry metrics::add(std::string name, hybrid_scheduler& what) {
  return registry_->add(std::move(name), std::make_shared<telemetry::hybrid_source>(what));
}

}  // namespace weft
