#include <weft/core/fork_context.hpp>

#include "crew.hpp"
#include "worker.hpp"

// What forks and joins do beyond the part that is inlined into user code, and who the current
// worker is.

namespace weft::detail {

// A fork that finds this word takes the slow path every time: in a crew without asymmetric fences,
// and on threads that are no workers.
constinit const atomic<std::uint64_t> fork_context::always_demanded{1};

namespace {

constinit atomic<std::uintptr_t> outside_slot{0};
struct outside_context final : fork_context {
  constexpr outside_context() noexcept : fork_context(no_worker{}, outside_slot, always_demanded) {}
};

// Never destroyed: threads may outlive the static objects of this file.
union immortal {
  constexpr immortal() noexcept : context() {}
  ~immortal() {}  // NOLINT(modernize-use-equals-default)
  outside_context context;
};
constinit immortal outside;

// Set by the first fork outside any pool, so that a loop can ask without making one. Publishes the
// crew.
constinit atomic<crew*> global_crew{nullptr};

}  // namespace

constinit thread_local fork_context* current_context = &outside.context;

worker* current_worker() noexcept {
  return current_context == &outside.context ? nullptr : static_cast<worker*>(current_context);
}

worker* occupy(worker* w) noexcept {
  worker* const before = current_worker();
  current_context = w != nullptr ? w : static_cast<fork_context*>(&outside.context);
  return before;
}

void fork_context::answer_demand(job& newest) {
  if (worker* w = current_worker()) return w->give_away();
  // A thread outside any pool. It takes a seat of the global one until the join comes to
  // take_back_or_wait(), as it must: its mark is not one of this worker's. When every seat is taken
  // nothing is forked, and both sides run here.
  crew& global = crew_of(pool::global());
  global_crew.store(&global, std::memory_order_release);
  global.require_open("join");
  if (worker* w = global.borrow_worker()) {
    if (!global.is_open()) return global.return_worker(*w);
    occupy(w);
    w->entrance_ = &newest;
    w->fork(newest);
  }
}

demand look_for_demand() noexcept {
  worker* const w = current_worker();
  if (w == nullptr) {
    crew* const c = global_crew.load(std::memory_order_acquire);
    return c == nullptr ? demand::asleep : c->idle_demand();
  }
  if (w->is_scripted()) return demand::searching;
  if (w->queue().has_public_jobs()) return demand::none;
  return w->home().idle_demand();
}

void publish_forks() noexcept {
  if (worker* w = current_worker()) w->publish_all();
}

bool fork_context::take_back_or_wait(job& j, latch& done) noexcept {
  worker* const w = current_worker();
  if (w == nullptr) return true;  // nothing was forked
  worker& self = *w;
  if (self.entrance_ == &j) {
    self.entrance_ = nullptr;
    if (self.take_back_or_wait(j, done)) j.call(j, job_fate::run);
    occupy(nullptr);
    self.crew_.return_worker(self);
    return false;
  }
  deque_owner own(self.queue_);
  while (!done.is_set()) {
    // What the left side spawned lies above j: queued jobs, for the forks inside it are joined. A
    // fork that is not j is an older one, and j is gone.
    const job_ref above = own.newest();
    if (!above || (!above.is_batchable() && above.get() != &j)) break;
    const job_ref newest = own.pop();
    if (!newest) break;
    if (newest.get() == &j) return true;
    if (self.may_help()) {
      self.note_helping();
      self.execute_nested(newest);
    } else {
      self.give_back(static_cast<queued_job&>(*newest.get()));
    }
  }
  self.wait_until(done);
  return false;
}

}  // namespace weft::detail
