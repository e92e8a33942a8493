#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::telemetry {

// As in the metrics API of OpenTelemetry.
enum class instrument : std::uint8_t {
  counter,        // only grows
  updowncounter,  // goes both ways, and the sum over several sources means something
  gauge,          // goes both ways, and the sum means nothing
  histogram,
};

// One metric as src/telemetry/schema declares it.
struct metric_schema {
  static constexpr std::size_t attributes_max = 3;

  std::string_view name;             // scheduler.tasks.spawned
  std::string_view prometheus_name;  // scheduler_tasks_spawned_total
  instrument kind = instrument::counter;
  std::string_view unit;
  std::string_view brief;  // a sentence
  std::size_t attribute_count = 0;
  // The first one says which thing it is about.
  std::array<std::string_view, attributes_max> attributes = {};
};

}  // namespace weft::telemetry
