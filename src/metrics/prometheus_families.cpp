#include "metrics/prometheus_families.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

#include "metrics/names.hpp"

namespace weft::telemetry {
namespace {

prometheus::MetricType type_of(instrument kind) noexcept {
  switch (kind) {
    case instrument::counter:
      return prometheus::MetricType::Counter;
    case instrument::histogram:
      return prometheus::MetricType::Histogram;
    case instrument::updowncounter:
    case instrument::gauge:
      break;
  }
  return prometheus::MetricType::Gauge;
}

// Prometheus counts in each bucket what is in those before it, too.
prometheus::ClientMetric::Histogram cumulative(const metric_histogram& values) {
  prometheus::ClientMetric::Histogram made;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < values.counts.size(); ++i) {
    below += values.counts[i];
    const double bound =
        i < values.bounds.size() ? values.bounds[i] : std::numeric_limits<double>::infinity();
    made.bucket.push_back({.cumulative_count = below, .upper_bound = bound});
  }
  made.sample_count = below;
  made.sample_sum = values.sum;
  return made;
}

double number_of(const metric_point& point) noexcept {
  if (const auto* whole = std::get_if<std::int64_t>(&point.value)) {
    return static_cast<double>(*whole);
  }
  const auto* number = std::get_if<double>(&point.value);
  return number != nullptr ? *number : 0;
}

prometheus::ClientMetric series(instrument kind, const metric_point& point) {
  prometheus::ClientMetric made;
  for (const metric_attribute& attribute : point.attributes) {
    made.label.push_back({label_name(attribute.name), attribute.value});
  }
  if (const auto* values = std::get_if<metric_histogram>(&point.value)) {
    made.histogram = cumulative(*values);
  } else if (kind == instrument::counter) {
    made.counter.value = number_of(point);
  } else {
    made.gauge.value = number_of(point);
  }
  return made;
}

}  // namespace

std::vector<prometheus::MetricFamily> prometheus_families(const std::vector<metric_values>& values,
                                                          const std::string& prefix) {
  const std::string before = prefix.empty() ? "" : prefix + "_";
  std::vector<prometheus::MetricFamily> families;
  for (const auto& [metric, points] : values) {
    prometheus::MetricFamily family{.name = before + std::string(metric->prometheus_name),
                                    .help = std::string(metric->brief),
                                    .type = type_of(metric->kind),
                                    .metric = {}};
    for (const metric_point& point : points) family.metric.push_back(series(metric->kind, point));
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace weft::telemetry
