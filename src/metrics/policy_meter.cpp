#include <weft/metrics/policy_meter.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/schema.hpp>

#include "metrics/registry.hpp"

namespace weft {
namespace telemetry {

class policy_counts final : public source {
 public:
  void record(const decision& made, std::optional<double> score) {
    const std::lock_guard lock(mutex_);
    count(made.limit, made.target, name(made.reason), name(made.gate));
    zone_ = made.zone;
    // Written so that NaN is left out.
    if (score && *score >= 0 && *score <= 100) score_ = score;
    for (const adapt::decision_event& event : made.events) ++events_[name(event.kind)];
  }

  void record(const adapt::sizing& made) {
    const std::lock_guard lock(mutex_);
    count(made.workers, made.workers, name(made.reason), name(move_gate::none));
  }

  void collect(snapshot& into) override {
    const std::lock_guard lock(mutex_);
    if (decisions_.empty()) return;
    into.set(metric::policy_limit, limit_);
    into.set(metric::policy_target, target_);
    if (score_) into.set(metric::policy_score, *score_);
    if (zone_) {
      for (const health_zone zone :
           {health_zone::none, health_zone::critical, health_zone::warning, health_zone::safe}) {
        into.set(metric::policy_zone_active, zone == *zone_ ? 1 : 0, {name(zone)});
      }
    }
    for (const auto& [why, times] : decisions_) {
      into.set(metric::policy_decisions, times, {why.first, why.second});
    }
    for (const auto& [what, times] : events_) into.set(metric::policy_events, times, {what});
  }

 private:
  void count(unsigned limit, unsigned target, std::string_view reason, std::string_view gate) {
    limit_ = limit;
    target_ = target;
    ++decisions_[{reason, gate}];
  }

  std::mutex mutex_;
  // All guarded by mutex_.
  unsigned limit_ = 0;
  unsigned target_ = 0;
  std::optional<double> score_;
  std::optional<health_zone> zone_;  // nothing for policies that have none
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> decisions_;
  std::map<std::string_view, std::uint64_t> events_;
};

}  // namespace telemetry

void policy_meter::record(const decision& made, std::optional<double> score) {
  counts_->record(made, score);
}

void policy_meter::record(const adapt::sizing& made) { counts_->record(made); }

policy_meter metrics::add_policy(std::string name) {
  auto counts = std::make_shared<telemetry::policy_counts>();
  metrics_entry entry = registry_->add(std::move(name), counts);
  return {std::move(entry), std::move(counts)};
}

}  // namespace weft
