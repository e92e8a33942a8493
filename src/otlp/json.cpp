#include <weft/otlp/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include <weft/version.hpp>

#include "otlp/json_writer.hpp"

namespace weft::otlp {
namespace {

using telemetry::instrument;
using telemetry::metric_histogram;
using telemetry::metric_point;
using telemetry::metric_values;
using time = std::chrono::sys_time<std::chrono::nanoseconds>;

// The numbers of the enumerations of the protocol.
constexpr int span_kind_internal = 1;
constexpr int temporality_cumulative = 2;

std::uint64_t nanoseconds_of(time at) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(at.time_since_epoch().count(), 0));
}

void write_value(json_writer& to, const std::string& value) { to.text("stringValue", value); }
void write_value(json_writer& to, std::int64_t value) { to.large("intValue", value); }
void write_value(json_writer& to, double value) { to.number("doubleValue", value); }
void write_value(json_writer& to, bool value) { to.boolean("boolValue", value); }

template <class Value>
void write_attribute(json_writer& to, std::string_view name, const Value& value) {
  to.object([&] {
    to.text("key", name);
    to.object("value", [&] { write_value(to, value); });
  });
}

void write_resource(json_writer& to, const resource& about) {
  to.object("resource", [&] {
    to.array("attributes", [&] {
      write_attribute(to, "service.name", about.service_name);
      write_attribute(to, "telemetry.sdk.name", std::string("weft"));
      write_attribute(to, "telemetry.sdk.language", std::string("cpp"));
      write_attribute(to, "telemetry.sdk.version", std::string(WEFT_VERSION));
      for (const auto& [name, value] : about.attributes) write_attribute(to, name, value);
    });
  });
}

void write_scope(json_writer& to) {
  to.object("scope", [&] {
    to.text("name", "weft");
    to.text("version", WEFT_VERSION);
  });
}

// The levels that all requests have; `inside` writes the innermost elements.
struct levels {
  std::string_view resources;
  std::string_view scopes;
  std::string_view elements;
};

template <class Inside>
std::string request(const resource& about, const levels& names, Inside&& inside) {
  std::string out;
  json_writer to(out);
  to.object([&] {
    to.array(names.resources, [&] {
      to.object([&] {
        write_resource(to, about);
        to.array(names.scopes, [&] {
          to.object([&] {
            write_scope(to);
            to.array(names.elements, [&] { inside(to); });
          });
        });
      });
    });
  });
  return out;
}

void write_span(json_writer& to, const telemetry::span& s) {
  to.object([&] {
    to.text("traceId", to_string(s.trace));
    to.text("spanId", to_string(s.id));
    if (s.parent) to.text("parentSpanId", to_string(s.parent));
    to.text("name", s.name);
    to.small("kind", span_kind_internal);
    to.large("startTimeUnixNano", nanoseconds_of(s.begin));
    to.large("endTimeUnixNano", nanoseconds_of(std::max(s.begin, s.end)));
    to.array("attributes", [&] {
      for (const telemetry::span_attribute& a : s.attributes) {
        std::visit([&](const auto& value) { write_attribute(to, a.name, value); }, a.value);
      }
    });
  });
}

void write_histogram(json_writer& to, const metric_histogram& values) {
  std::uint64_t count = 0;
  for (const std::uint64_t c : values.counts) count += c;
  to.large("count", count);
  to.number("sum", values.sum);
  to.array("bucketCounts", [&] {
    for (const std::uint64_t c : values.counts) to.large_element(c);
  });
  to.array("explicitBounds", [&] {
    for (const double bound : values.bounds) to.element(bound);
  });
}

void write_number(json_writer& to, std::int64_t value) { to.large("asInt", value); }
void write_number(json_writer& to, double value) { to.number("asDouble", value); }
void write_number(json_writer& to, const metric_histogram& values) { write_histogram(to, values); }

void write_points(json_writer& to, const metric_values& of, time now) {
  to.array("dataPoints", [&] {
    for (const metric_point& point : of.points) {
      to.object([&] {
        to.array("attributes", [&] {
          for (const auto& [name, value] : point.attributes) write_attribute(to, name, value);
        });
        // A gauge is of a moment; the others count from then on.
        if (of.metric->kind != instrument::gauge) {
          to.large("startTimeUnixNano", nanoseconds_of(std::min(point.since, now)));
        }
        to.large("timeUnixNano", nanoseconds_of(now));
        std::visit([&](const auto& value) { write_number(to, value); }, point.value);
      });
    }
  });
}

std::string_view data_of(instrument kind) noexcept {
  switch (kind) {
    case instrument::counter:
    case instrument::updowncounter:
      return "sum";
    case instrument::histogram:
      return "histogram";
    case instrument::gauge:
      break;
  }
  return "gauge";
}

void write_metric(json_writer& to, const metric_values& of, time now) {
  const instrument kind = of.metric->kind;
  to.object([&] {
    to.text("name", of.metric->name);
    to.text("description", of.metric->brief);
    to.text("unit", of.metric->unit);
    to.object(data_of(kind), [&] {
      if (kind != instrument::gauge) to.small("aggregationTemporality", temporality_cumulative);
      if (kind == instrument::counter) to.boolean("isMonotonic", true);
      if (kind == instrument::updowncounter) to.boolean("isMonotonic", false);
      write_points(to, of, now);
    });
  });
}

}  // namespace

std::string spans_json(std::span<const telemetry::span> spans, const resource& about) {
  return request(about, {"resourceSpans", "scopeSpans", "spans"}, [&](json_writer& to) {
    for (const telemetry::span& s : spans) {
      if (s.trace && s.id) write_span(to, s);
    }
  });
}

std::string metrics_json(std::span<const metric_values> values, time now, const resource& about) {
  return request(about, {"resourceMetrics", "scopeMetrics", "metrics"}, [&](json_writer& to) {
    for (const metric_values& of : values) write_metric(to, of, now);
  });
}

}  // namespace weft::otlp
