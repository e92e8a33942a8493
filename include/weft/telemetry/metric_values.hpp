#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <weft/telemetry/metric_schema.hpp>

namespace weft::telemetry {

// How many values fell between bounds.
struct metric_histogram {
  std::vector<double> bounds;         // ascending; a value on one counts below it
  std::vector<std::uint64_t> counts;  // one more than bounds: the last is above all of them
  double sum = 0;
};

struct metric_attribute {
  std::string name;  // scheduler.name
  std::string value;
};

// What one thing has of a metric.
struct metric_point {
  // Those of the schema in its order, then those that all metrics of the program have.
  std::vector<metric_attribute> attributes;
  // When it was 0: with the pool that counts, and for what is measured for its entry, with that.
  std::chrono::sys_time<std::chrono::nanoseconds> since;
  std::variant<std::int64_t, double, metric_histogram> value;
};

// A metric at one moment, of everything that has it.
struct metric_values {
  const metric_schema* metric = nullptr;  // one of metric::all
  std::vector<metric_point> points;
};

}  // namespace weft::telemetry
