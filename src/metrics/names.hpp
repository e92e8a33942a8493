#pragma once

#include <string>
#include <string_view>

#include <weft/metrics/metrics.hpp>

// What Prometheus takes. Errors: std::invalid_argument that says what to do.

namespace weft::telemetry {

// The prefix, and the names and values of the labels.
void check_options(const metrics_options& options);

// The name under which something is added.
void check_entry_name(const std::string& name);

// scheduler.name is scheduler_name as a label.
[[nodiscard]] std::string label_name(std::string_view attribute);

}  // namespace weft::telemetry
