#include <weft/metrics/metrics.hpp>

#include <utility>

#include <prometheus/text_serializer.h>

#include <weft/core/pool.hpp>

#include "metrics/executor_source.hpp"
#include "metrics/pool_source.hpp"
#include "metrics/registry.hpp"

namespace weft {

metrics::metrics(const metrics_options& options)
    : registry_(std::make_shared<telemetry::registry>(options)) {}

metrics_entry metrics::add(std::string name, pool& what) {
  return registry_->add(std::move(name), std::make_shared<telemetry::pool_source>(what));
}

metrics_entry metrics::add(std::string name, executor& what) {
  return registry_->add(std::move(name), std::make_shared<telemetry::executor_source>(what));
}

void metrics::sample() { registry_->sample(); }

std::string metrics::text() { return prometheus::TextSerializer().Serialize(registry_->Collect()); }

std::vector<telemetry::metric_values> metrics::read() { return registry_->read(); }

std::shared_ptr<prometheus::Collectable> metrics::collectable() const { return registry_; }

}  // namespace weft
