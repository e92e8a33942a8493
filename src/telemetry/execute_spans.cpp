#include "telemetry/execute_spans.hpp"

#include <chrono>
#include <cstdint>
#include <limits>

#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {
namespace {

// From the clock that never jumps to the one of the calendar.
class calendar {
 public:
  [[nodiscard]] std::chrono::sys_time<std::chrono::nanoseconds> at(
      std::chrono::steady_clock::time_point t) const noexcept {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(now_) + (t - steady_now_);
  }

 private:
  const std::chrono::system_clock::time_point now_ = std::chrono::system_clock::now();
  const std::chrono::steady_clock::time_point steady_now_ = std::chrono::steady_clock::now();
};

// Attributes are signed.
std::int64_t number_of(std::uint64_t bits) noexcept {
  return static_cast<std::int64_t>(bits & std::uint64_t{std::numeric_limits<std::int64_t>::max()});
}

}  // namespace

std::vector<span> take_spans(trace_recorder& from) {
  log_book& book = from.book();
  const std::vector<log_book::page> pages = book.read_new();
  const std::vector<kept_span> ended = book.take_ended();
  const std::vector<traced_lane> lanes = from.lanes();
  const std::vector<std::string> names = book.names();
  const tick_clock::scale time = book.clock().measure();
  const calendar days;

  std::vector<span> spans;
  spans.reserve(ended.size());
  for (const kept_span& k : ended) {
    spans.push_back({.trace = k.trace,
                     .id = k.id,
                     .parent = k.parent,
                     .name = k.name,
                     .begin = days.at(k.begin),
                     .end = days.at(k.end),
                     .attributes = {}});
  }
  for (const log_book::page& page : pages) {
    for (std::size_t i = 1; i < page.events.size(); ++i) {
      const trace_event& of = page.events[i - 1];
      const trace_event& ran = page.events[i];
      if (of.what != trace_event::kind::trace || ran.what != trace_event::kind::ran) continue;
      if (of.place.lane >= lanes.size()) continue;
      const traced_lane& lane = lanes[of.place.lane];
      span made{.trace = {.high = of.first, .low = of.second},
                .id = new_span_id(),
                .parent = {.value = of.third},
                .name = std::string(span_name::scheduler_task_execute),
                .begin = days.at(time.at(ran.first)),
                .end = days.at(time.at(ran.second)),
                .attributes = {
                    {std::string(attribute::scheduler_task_id), number_of(of.third)},
                    {std::string(attribute::scheduler_task_type), lane.task_type},
                    {std::string(attribute::scheduler_worker_id), std::int64_t{of.place.worker}},
                    {std::string(attribute::scheduler_name), lane.scheduler}}};
      if (of.name != trace_event::no_name && of.name <= names.size()) {
        made.attributes.push_back(
            {std::string(attribute::scheduler_task_name), names[of.name - 1]});
      }
      spans.push_back(std::move(made));
    }
  }
  return spans;
}

}  // namespace weft::telemetry
