#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <weft/metrics/metrics_entry.hpp>

namespace weft {

struct run_event;

namespace telemetry {
class batch_counts;  // src/metrics/batch_meter.cpp
}

// Counts what happens in runs of a plan. Made by metrics::add_batch().
//
//   auto nightly = metrics.add_batch("nightly");
//   weft::run(plan, {.on_event = nightly.listener()});
//
// Runs at the same time add up; each has a listener of its own. Threads: any. Lifetime: listeners
// may outlive it.
class [[nodiscard]] batch_meter {
 public:
  batch_meter(metrics_entry entry, std::shared_ptr<telemetry::batch_counts> counts) noexcept
      : entry_(std::move(entry)), counts_(std::move(counts)) {}

  // For one run, or for runs one after another: run_options::on_event.
  [[nodiscard]] std::function<void(const run_event&)> listener() const;

 private:
  metrics_entry entry_;
  std::shared_ptr<telemetry::batch_counts> counts_;
};

}  // namespace weft
