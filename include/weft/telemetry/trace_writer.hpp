#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace weft::telemetry {

// A named value of a slice or a counter.
struct trace_argument {
  std::string_view name;
  std::variant<std::string_view, double, std::int64_t, bool> value;
};

// Where things are drawn: a track is a thread of a process. Count both from 1: Perfetto takes 0 for
// the idle thread of the kernel.
struct trace_track {
  std::uint32_t process = 1;
  std::uint32_t thread = 1;

  bool operator==(const trace_track&) const = default;
};

// Writes the Trace Event Format (JSON) that Perfetto and chrome://tracing read. Times are seconds
// since the beginning of the trace, and are written to the nanosecond. Slices of a track must nest.
// Events may come in any order, but an arrow after the slices that it connects.
//
// Threads: one at a time. Errors: none; text that is not UTF-8 is mended, and a number that is not
// finite is null.
class trace_writer {
 public:
  // Appends to `to`, which must outlive this.
  explicit trace_writer(std::string& to);
  ~trace_writer();  // ends the document
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  void name_process(std::uint32_t process, std::string_view name);
  // Tracks are shown by `order`.
  void name_track(trace_track track, std::string_view name, std::int64_t order);

  void slice(trace_track track, std::string_view name, std::string_view category, double begin,
             double duration, std::span<const trace_argument> arguments = {});
  void instant(trace_track track, std::string_view name, std::string_view category, double at,
               std::span<const trace_argument> arguments = {});
  // Each argument is a series of the counter.
  void counter(std::uint32_t process, std::string_view name, double at,
               std::span<const trace_argument> values);
  // An arrow from a slice that covers `from_time` to one that covers `to_time`. A slice covers its
  // beginning, but not its end.
  void arrow(std::string_view name, std::string_view category, trace_track from, double from_time,
             trace_track to, double to_time);

 private:
  class event;

  std::string& out_;
  bool first_ = true;
  std::uint64_t next_arrow_ = 1;
};

}  // namespace weft::telemetry
