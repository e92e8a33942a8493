#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <weft/core/trace_id.hpp>

namespace weft::telemetry {

struct span_attribute {
  std::string name;  // as docs/reference/telemetry.md declares it
  std::variant<std::string, std::int64_t, double, bool> value;
};

// A piece of work with a beginning and an end, and what it was part of: the unit of distributed
// tracing.
struct span {
  trace_id trace;
  span_id id;
  span_id parent;  // zero: nothing that is known
  std::string name;
  std::chrono::sys_time<std::chrono::nanoseconds> begin;
  std::chrono::sys_time<std::chrono::nanoseconds> end;
  std::vector<span_attribute> attributes;
};

}  // namespace weft::telemetry
