#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <weft/adapt/policy/decision.hpp>
#include <weft/adapt/policy/sizing.hpp>
#include <weft/metrics/metrics_entry.hpp>

namespace weft {

namespace telemetry {
class policy_counts;  // src/metrics/policy_meter.cpp
}

// Counts what a policy decides. Made by metrics::add_policy().
//
//   auto meter = metrics.add_policy("jobs");
//   const weft::decision d = policy.poll(reading, now);
//   meter.record(d, reading.score);
//
// Until the first decision nothing is published. Threads: record(), from any thread.
class [[nodiscard]] policy_meter {
 public:
  policy_meter(metrics_entry entry, std::shared_ptr<telemetry::policy_counts> counts) noexcept
      : entry_(std::move(entry)), counts_(std::move(counts)) {}

  // A score outside 0 to 100, and NaN, count as none, as they do for the policy.
  void record(const decision& made, std::optional<double> score = std::nullopt);
  void record(const adapt::sizing& made);

 private:
  metrics_entry entry_;
  std::shared_ptr<telemetry::policy_counts> counts_;
};

}  // namespace weft
