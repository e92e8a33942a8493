#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include <weft/otlp/options.hpp>
#include <weft/telemetry/metric_values.hpp>
#include <weft/telemetry/span.hpp>

// What a collector of OpenTelemetry is sent, for those who bring it there in their own way:
// documents of OTLP 1.x in the JSON mapping of its protocol.
//
// They look at no clock and keep no order of their own. Errors: none; text that is not UTF-8 is
// mended, a number that is not finite becomes "NaN" or "Infinity" as the mapping has it, times
// before 1970 become 1970, and what ends before it begins ends when it begins.

namespace weft::otlp {

// Which program it is about.
struct resource {
  std::string service_name = "unknown_service";
  std::vector<otlp_field> attributes = {};
};

// An ExportTraceServiceRequest. Spans without an id or a trace are left out.
[[nodiscard]] std::string spans_json(std::span<const telemetry::span> spans, const resource& about);

// An ExportMetricsServiceRequest, of values that were read at `now`.
[[nodiscard]] std::string metrics_json(std::span<const telemetry::metric_values> values,
                                       std::chrono::sys_time<std::chrono::nanoseconds> now,
                                       const resource& about);

}  // namespace weft::otlp
