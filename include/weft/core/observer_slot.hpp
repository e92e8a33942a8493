#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/job.hpp>
#include <weft/core/observer.hpp>

namespace weft::detail {

// Where a lane keeps its observer, which may change while the lane works.
//
// Threads: any. Lifetime: an observer that was set by set() lives as long as the slot, for a thread
// that has told it of a beginning tells it of the end, too.
class observer_slot {
 public:
  observer_slot() = default;
  explicit observer_slot(observer* first) noexcept : now_(first) {}

  // Null for none. acquire: what it points to was made before.
  [[nodiscard]] observer* get() const noexcept { return now_.load(std::memory_order_acquire); }

  // Tells whoever observes; one branch when nobody does. Returns who was told, who must also be
  // told if the job is not queued after all: see tell_withdrawn().
  observer* note_queued(const void* job) noexcept {
    if (get() == nullptr) [[likely]]
      return nullptr;
    return tell_queued(job);
  }

  // Null takes away the one that is there. False when there is another one. Throws std::bad_alloc.
  bool set(const std::shared_ptr<observer>& next);

 private:
  [[gnu::cold, gnu::noinline]] observer* tell_queued(const void* job) noexcept;

  atomic<observer*> now_{nullptr};  // written under mutex_
  std::mutex mutex_;
  std::vector<std::shared_ptr<observer>> kept_;  // guarded by mutex_
};

// `told` is whoever was told that the job is queued; null for nobody.
inline void tell_withdrawn(observer* told, const void* job) noexcept {
  if (told != nullptr) [[unlikely]]
    told->job_withdrawn(job);
}

// Runs the job, and tells the observer of it and of the tasks in it.
void call_observed(observer& o, unsigned worker, job& j, job_fate fate) noexcept;

}  // namespace weft::detail
