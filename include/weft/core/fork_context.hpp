#pragma once

#include <cstdint>

#include <weft/base/atomic.hpp>
#include <weft/core/deque.hpp>
#include <weft/core/job.hpp>
#include <weft/core/latch.hpp>

namespace weft::detail {

// Of sleep::word(): somebody searches or a seat is vacant.
[[nodiscard]] inline bool is_demanded(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word) != 0;
}

// What a fork needs of the worker it runs on: the part of a worker that is inlined into user code.
// Everything else is behind the functions below, in src/core/worker.cpp.
//
// Threads: the thread that occupies the worker.
class fork_context {
 public:
  // Pushes a job that lives in the caller's frame; returns its mark, for take_back().
  std::int64_t fork(job& j) {
    const std::int64_t mark = deque_owner(queue_).push(job_ref::single(j));
    light_fence();  // push, then poll: the owner's half of the pair in sleep.md
    if (work_wanted()) [[unlikely]]
      answer_demand(j);
    return mark;
  }

  // Somebody searches or a seat is vacant. relaxed: whoever acts on it reads it again.
  [[nodiscard]] bool work_wanted() const noexcept {
    return is_demanded(demand_->load(std::memory_order_relaxed));
  }

  // Of a deterministic pool, where clocks must decide nothing.
  [[nodiscard]] bool is_scripted() const noexcept { return scripted_; }

  // True when the job with that mark is back, unstarted, and the caller must run it.
  [[nodiscard]] bool take_back(std::int64_t mark) noexcept {
    return deque_owner(queue_).try_take_back(mark);
  }

  // The rare rest of taking back: runs what was pushed above the job, then either returns true (the
  // caller must run it), or waits, helping, until the thief has set `done`, and returns false.
  [[nodiscard]] bool take_back_or_wait(job& j, latch& done) noexcept;

 protected:
  fork_context(const atomic<std::uint64_t>& demand, bool fenced, bool scripted)
      : queue_(deque::initial_capacity, fenced), demand_(&demand), scripted_(scripted) {}
  // Of all threads that are no workers. Work is always wanted there, so that a fork comes to
  // answer_demand(), which lends the thread to pool::global(): the fast path need not ask.
  struct no_worker {};
  constexpr fork_context(no_worker, atomic<std::uintptr_t>& slot,
                         const atomic<std::uint64_t>& demand) noexcept
      : queue_(deque::bottomless{}, slot), demand_(&demand), scripted_(false) {}
  ~fork_context() = default;

  // Somebody has no work: make a job public and see to it that it is looked for. `newest` has just
  // been pushed. Throws nothing on a worker; elsewhere what making pool::global() throws.
  [[gnu::cold]] void answer_demand(job& newest);

  static const atomic<std::uint64_t> always_demanded;

  deque queue_;
  const atomic<std::uint64_t>* demand_;  // sleep::word()
  const bool scripted_;
};

// The worker this thread occupies, or the context of threads that occupy none. initial-exec: one
// load, also in a shared library.
extern constinit thread_local fork_context* current_context
    __attribute__((tls_model("initial-exec")));

// Makes the forks of this worker public, wanted or not. For an owner that will not fork again for
// long, and knows that somebody comes.
void publish_forks() noexcept;

// Who would take a piece of work now.
enum class demand : std::uint8_t {
  none,       // nobody: all are busy, or have not taken yet what this worker offered last
  asleep,     // a worker that must be woken, which takes tens of microseconds
  searching,  // a worker that looks for work at this moment, or a deterministic pool
};

[[nodiscard, gnu::cold]] demand look_for_demand() noexcept;

// For loops that split only when somebody is idle. Outside any pool: of the global one.
[[nodiscard]] inline demand work_wanted() noexcept {
  return current_context->work_wanted() ? look_for_demand() : demand::none;
}

}  // namespace weft::detail
