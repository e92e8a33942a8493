#include <weft/flow/instance_place.hpp>

#include <utility>

#include <weft/core/crew_access.hpp>
#include <weft/coro/spawn.hpp>

namespace weft {

instance_place::instance_place(pool& p) noexcept : pool_(&p) {}
instance_place::instance_place(hybrid_scheduler& hs) noexcept
    : pool_(&hs.cpu_pool()), scheduler_(&hs) {}

io::placement instance_place::choose(task_kind kind, const spawn_options& options) const {
  if (scheduler_ != nullptr) return io::place(scheduler_of(*scheduler_), kind, options);
  detail::require_open(detail::crew_of(*pool_), "adding an instance");
  return {.kind = lane_kind::cpu, .lane = &lane_of(*pool_)};
}

instance_place::ready_task instance_place::prepare(task<void> t, io::placement where,
                                                   task_kind kind, std::string_view name,
                                                   future<void>& handle) const {
  detail::future_state<void>* job = nullptr;
  if (scheduler_ != nullptr) {
    job = new io::hybrid_job<void>(scheduler_of(*scheduler_), where, kind, std::move(t), name,
                                   context_);
  } else {
    job = new coro::chain_future<void>(detail::crew_of(*pool_), *where.lane, std::move(t), name,
                                       context_);
  }
  handle = adopt_state<void>(job);
  return {.job = job, .where = where};
}

void instance_place::submit(const ready_task& ready) const {
  if (scheduler_ == nullptr) {
    try {
      detail::submit_task(detail::crew_of(*pool_), *ready.job, "adding an instance");
    } catch (...) {
      ready.job->release();  // the queue's
      throw;
    }
  } else {
    try {
      io::submit(scheduler_of(*scheduler_), *ready.job, ready.where);
    } catch (...) {
      static_cast<io::hybrid_job<void>*>(ready.job)->refused();
      throw;
    }
  }
}

coro::hop instance_place::hop_to(io::placement where) const noexcept {
  if (scheduler_ != nullptr && where.kind == lane_kind::cpu) return scheduler_->cpu();
  return schedule_on(*where.lane);
}

}  // namespace weft
