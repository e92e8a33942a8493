#include "metrics/snapshot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/telemetry/schema.hpp>

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

// Counters are read while others write them: what was seen once is never taken back.
double never_less(counter_floors& floors, const metric_schema& metric,
                  std::initializer_list<std::string_view> others, double value) {
  std::string key(metric.prometheus_name);
  for (const std::string_view other : others) (key += '/') += other;
  double& floor = floors[key];
  return floor = std::max(floor, value);
}

}  // namespace

prometheus::ClientMetric& snapshot::series(const metric_schema& metric,
                                           std::initializer_list<std::string_view> others) {
  WEFT_ASSERT(others.size() + 1 == metric.attribute_count,
              "a metric has as many values of attributes as the schema has attributes");
  prometheus::ClientMetric made;
  made.label.push_back({label_name(metric.attributes[0]), *name_});
  std::size_t index = 0;
  for (const std::string_view other : others) {
    made.label.push_back({label_name(metric.attributes[++index]), std::string(other)});
  }
  for (const metric_label& label : options_.labels) made.label.push_back({label.name, label.value});
  return series_[metric.name].emplace_back(std::move(made));
}

void snapshot::set(const metric_schema& metric, double value,
                   std::initializer_list<std::string_view> others) {
  prometheus::ClientMetric& made = series(metric, others);
  if (metric.kind == instrument::counter) {
    made.counter.value = never_less(*floors_, metric, others, value);
  } else {
    made.gauge.value = value;
  }
}

void snapshot::set(const metric_schema& metric, const histogram& values) {
  prometheus::ClientMetric& made = series(metric, {});
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < values.counts().size(); ++i) {
    below += values.counts()[i];
    const double bound =
        i < values.bounds().size() ? values.bounds()[i] : std::numeric_limits<double>::infinity();
    made.histogram.bucket.push_back({.cumulative_count = below, .upper_bound = bound});
  }
  made.histogram.sample_count = below;
  made.histogram.sample_sum = values.sum();
}

std::vector<prometheus::MetricFamily> snapshot::take() {
  const std::string prefix = options_.prefix.empty() ? "" : options_.prefix + "_";
  std::vector<prometheus::MetricFamily> families;
  for (const metric_schema* metric : metric::all) {
    const auto found = series_.find(metric->name);
    if (found == series_.end()) continue;
    families.push_back({.name = prefix + std::string(metric->prometheus_name),
                        .help = std::string(metric->brief),
                        .type = type_of(metric->kind),
                        .metric = std::move(found->second)});
  }
  series_.clear();
  return families;
}

}  // namespace weft::telemetry
