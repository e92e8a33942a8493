#include <weft/flow/instance_place.hpp>

#include <weft/core/crew_access.hpp>

namespace weft {

instance_place::instance_place(pool& p) noexcept : pool_(&p) {}
instance_place::instance_place(hybrid_scheduler& hs) noexcept
    : pool_(&hs.cpu_pool()), scheduler_(&hs) {}

io::placement instance_place::choose(task_kind kind, const spawn_options& options) const {
  if (scheduler_ != nullptr) {
    const io::placement where = io::place(scheduler_of(*scheduler_), kind, options);
    // The pool may have ended before the scheduler: then its lane would run the job on the spot.
    if (where.kind == lane_kind::cpu && !where.lane->is_here()) {
      detail::require_open(detail::crew_of(*pool_), "adding an instance");
    }
    return where;
  }
  detail::require_open(detail::crew_of(*pool_), "adding an instance");
  return {.kind = lane_kind::cpu, .lane = &lane_of(*pool_)};
}

void instance_place::submit(detail::queued_job& job, io::placement where) const {
  if (scheduler_ != nullptr) return io::submit(scheduler_of(*scheduler_), job, where);
  detail::submit_task(detail::crew_of(*pool_), job, "adding an instance");
}

coro::hop instance_place::hop_to(io::placement where) const noexcept {
  if (scheduler_ != nullptr && where.kind == lane_kind::cpu) return scheduler_->cpu();
  return schedule_on(*where.lane);
}

}  // namespace weft
