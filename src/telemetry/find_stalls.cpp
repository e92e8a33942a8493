#include "telemetry/find_stalls.hpp"

#include <algorithm>
#include <string>

#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {

std::vector<stall> find_stalls(const trace_recorder& in, std::chrono::nanoseconds at_least) {
  const log_book& book = in.book();
  const tick_clock::scale time = book.clock().measure();
  const auto now = std::chrono::steady_clock::now();
  const std::vector<log_book::open_on_thread> threads = book.open();
  const std::vector<traced_lane> lanes = in.lanes();
  const std::vector<std::string> names = book.names();

  std::vector<stall> found;
  for (const log_book::open_on_thread& open : threads) {
    for (const thread_log::open_work& work : open) {
      // A guest holds its own thread, and is often the whole program.
      if (work.is_guest || work.place.lane >= lanes.size()) continue;
      const std::chrono::nanoseconds held = now - time.at(work.begin);
      if (held < at_least) continue;
      const traced_lane& lane = lanes[work.place.lane];
      const bool has_name = work.name != trace_event::no_name && work.name <= names.size();
      found.push_back(
          {.scheduler = lane.scheduler,
           .lane = lane.name,
           .worker = work.place.worker,
           .is_blocking_lane = lane.task_type == attribute::scheduler_task_type_values[2],
           .task = has_name ? names[work.name - 1] : std::string(),
           .is_on_top = &work == &open.back(),
           .held = held,
           .id = work.begin});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const stall& a, const stall& b) { return a.held > b.held; });
  return found;
}

}  // namespace weft::telemetry
