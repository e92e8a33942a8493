#pragma once

#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include <weft/telemetry/metric_values.hpp>

namespace weft::telemetry {

// The values under the names that Prometheus has for them. An underscore follows the prefix, unless
// that is empty.
[[nodiscard]] std::vector<prometheus::MetricFamily> prometheus_families(
    const std::vector<metric_values>& values, const std::string& prefix);

}  // namespace weft::telemetry
