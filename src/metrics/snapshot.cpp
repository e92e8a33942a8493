#include "metrics/snapshot.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {
namespace {

// Counters are read while others write them: what was seen once is never taken back.
template <class Number>
Number never_less(entry_record& entry, const metric_schema& metric,
                  std::initializer_list<std::string_view> others, Number value) {
  if (metric.kind != instrument::counter) return value;
  std::string key(metric.prometheus_name);
  for (const std::string_view other : others) (key += '/') += other;
  double& floor = entry.floors[key];
  if (static_cast<double>(value) < floor) return static_cast<Number>(floor);
  floor = static_cast<double>(value);
  return value;
}

}  // namespace

metric_point& snapshot::point(const metric_schema& metric,
                              std::initializer_list<std::string_view> others) {
  WEFT_ASSERT(others.size() + 1 == metric.attribute_count,
              "a metric has as many values of attributes as the schema has attributes");
  metric_point made{.attributes = {}, .since = since_, .value = 0.0};
  made.attributes.push_back({std::string(metric.attributes[0]), entry_->name});
  std::size_t index = 0;
  for (const std::string_view other : others) {
    made.attributes.push_back({std::string(metric.attributes[++index]), std::string(other)});
  }
  for (const metric_label& l : options_.labels) made.attributes.push_back({l.name, l.value});
  return points_[metric.name].emplace_back(std::move(made));
}

void snapshot::set(const metric_schema& metric, double value,
                   std::initializer_list<std::string_view> others) {
  point(metric, others).value = never_less(*entry_, metric, others, value);
}

void snapshot::set(const metric_schema& metric, std::int64_t value,
                   std::initializer_list<std::string_view> others) {
  point(metric, others).value = never_less(*entry_, metric, others, value);
}

void snapshot::set(const metric_schema& metric, const histogram& values) {
  metric_point& made = point(metric, {});
  made.since = entry_->since;
  made.value = metric_histogram{.bounds = {values.bounds().begin(), values.bounds().end()},
                                .counts = {values.counts().begin(), values.counts().end()},
                                .sum = values.sum()};
}

std::vector<metric_values> snapshot::take() {
  std::vector<metric_values> taken;
  for (const metric_schema* metric : metric::all) {
    const auto found = points_.find(metric->name);
    if (found != points_.end()) taken.push_back({metric, std::move(found->second)});
  }
  points_.clear();
  return taken;
}

}  // namespace weft::telemetry
