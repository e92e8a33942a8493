#pragma once

#include <memory>

#include <weft/core/pool.hpp>
#include <weft/core/stats.hpp>

#include "metrics/histogram.hpp"
#include "metrics/latency_probe.hpp"
#include "metrics/registry.hpp"

namespace weft::telemetry {

// How many tasks were queued whenever somebody looked.
class depth_samples {
 public:
  depth_samples();
  void record(const pool_stats& stats) { depths_.record(static_cast<double>(stats.queue_depth)); }
  void collect(snapshot& into) const;

 private:
  histogram depths_;
};

// The counters and sizes of a pool.
void collect_pool(snapshot& into, const pool_stats& stats);

class pool_source final : public source {
 public:
  explicit pool_source(pool& what) : pool_(what) {}
  void collect(snapshot& into) override;
  void sample() override;

 private:
  pool& pool_;
  depth_samples depths_;
  std::shared_ptr<latency_probe> probe_ = std::make_shared<latency_probe>();
};

}  // namespace weft::telemetry
