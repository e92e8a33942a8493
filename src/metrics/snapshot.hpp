#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/metric_family.h>

#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/metric_schema.hpp>

#include "metrics/histogram.hpp"

namespace weft::telemetry {

// The highest value of each counter of an entry so far, by its series.
using counter_floors = std::map<std::string, double, std::less<>>;

// The values of one scrape, as they come in from the entries.
class snapshot {
 public:
  explicit snapshot(const metrics_options& options) : options_(options) {}

  // What comes from now on is about `name`.
  void begin_entry(const std::string& name, counter_floors& floors) noexcept {
    name_ = &name;
    floors_ = &floors;
  }

  // `others` are the values of the attributes after the first one, which is the name.
  void set(const metric_schema& metric, double value,
           std::initializer_list<std::string_view> others = {});
  template <class Integer>
  void set(const metric_schema& metric, Integer value,
           std::initializer_list<std::string_view> others = {}) {
    set(metric, static_cast<double>(value), others);
  }
  void set(const metric_schema& metric, const histogram& values);

  // In the order of the schema; those without a value are left out.
  [[nodiscard]] std::vector<prometheus::MetricFamily> take();

 private:
  prometheus::ClientMetric& series(const metric_schema& metric,
                                   std::initializer_list<std::string_view> others);

  const metrics_options& options_;
  const std::string* name_ = nullptr;
  counter_floors* floors_ = nullptr;
  std::map<std::string_view, std::vector<prometheus::ClientMetric>> series_;
};

}  // namespace weft::telemetry
