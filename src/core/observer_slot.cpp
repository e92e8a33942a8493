#include <weft/core/observer_slot.hpp>

#include <algorithm>
#include <utility>

#include <weft/core/running.hpp>

namespace weft::detail {

bool observer_slot::set(const std::shared_ptr<observer>& next) {
  const std::lock_guard lock(mutex_);
  observer* const before = now_.load(std::memory_order_relaxed);
  if (next != nullptr && before != nullptr && before != next.get()) return false;
  if (next != nullptr && std::find(kept_.begin(), kept_.end(), next) == kept_.end()) {
    kept_.push_back(next);
  }
  now_.store(next.get(), std::memory_order_release);
  return true;
}

// The observer may be taken away meanwhile.
observer* observer_slot::tell_queued(const void* job) noexcept {
  observer* const told = get();
  if (told != nullptr) told->job_queued(job);
  return told;
}

void call_observed(observer& o, unsigned worker, job& j, job_fate fate) noexcept {
  running& here = running::on_this_thread();
  observer* const outer = std::exchange(here.observer, &o);
  const unsigned outer_worker = std::exchange(here.worker, worker);
  o.job_begins(worker, &j);
  j.call(j, fate);
  o.job_ends(worker);
  here.observer = outer;
  here.worker = outer_worker;
}

}  // namespace weft::detail
