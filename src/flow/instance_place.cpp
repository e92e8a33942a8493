#include <weft/flow/instance_place.hpp>

#include <weft/core/crew_access.hpp>

namespace weft {

instance_place::instance_place(pool& p) noexcept : pool_(&p) {}
instance_place::instance_place(hybrid_scheduler& hs) noexcept
    : pool_(&hs.cpu_pool()), scheduler_(&hs) {}

io::placement instance_place::choose(task_kind kind, const spawn_options& options) const {
  const io::placement where = scheduler_ != nullptr
                                  ? io::place(scheduler_of(*scheduler_), kind, options)
                                  : io::placement{.kind = lane_kind::cpu, .lane = &lane_of(*pool_)};
  // A pool that drains takes what its own jobs add, as with spawn(). One that has ended, perhaps
  // before its scheduler, would run the job on the spot.
  if (where.kind == lane_kind::cpu && !where.lane->is_here()) {
    detail::require_open(detail::crew_of(*pool_), "adding an instance");
  }
  return where;
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
