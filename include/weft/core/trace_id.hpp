#pragma once

#include <cstdint>
#include <string>

namespace weft {

// Names one request on its way through all programs that serve it, as W3C Trace Context has it.
// Zero is none.
struct trace_id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  explicit operator bool() const noexcept { return (high | low) != 0; }
  bool operator==(const trace_id&) const = default;
};

// Names a piece of work within a trace. Zero is none.
struct span_id {
  std::uint64_t value = 0;

  explicit operator bool() const noexcept { return value != 0; }
  bool operator==(const span_id&) const = default;
};

// 32 and 16 lower-case hexadecimal digits.
[[nodiscard]] std::string to_string(trace_id id);
[[nodiscard]] std::string to_string(span_id id);

// At random; never zero. Threads: any.
[[nodiscard]] trace_id new_trace_id();
[[nodiscard]] span_id new_span_id();

}  // namespace weft
