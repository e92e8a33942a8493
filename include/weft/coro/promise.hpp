#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stop_token>
#include <string_view>
#include <utility>

#include <weft/core/context.hpp>
#include <weft/core/job.hpp>
#include <weft/core/job_memory.hpp>
#include <weft/core/lane.hpp>
#include <weft/core/running.hpp>
#include <weft/coro/wait_state.hpp>

namespace weft::coro {

class promise_base;

// What a chain of tasks belongs to: sync_wait, a future, a branch of when_all. Is told of its end.
class chain_owner {
 public:
  // The first task of the chain has ended, and its outcome is in its promise. On the thread where
  // it ended, in its last suspension: may destroy it, go on with another chain by go_on(), or post.
  virtual void ended(promise_base& first) noexcept = 0;
  // Is requested when the chain is asked to stop.
  [[nodiscard]] virtual std::stop_token stop_token() noexcept = 0;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  // On whose behalf it runs; null for none. Stays as long as this.
  [[nodiscard]] virtual const detail::context_node* on_behalf_of() const noexcept {
    return nullptr;
  }

 protected:
  ~chain_owner() = default;
};

// The part of a task's promise that does not depend on its result.
//
// A task that is awaited and the one that awaits it run one after the other: they form a chain, and
// the task at its start speaks for it. The frame is its own job, so going on elsewhere takes no
// memory.
//
// Inline resumption is bounded by never nesting it: a task that gives way to another one returns to
// the loop in run(), which resumes the other. So a million co_awaits need no more stack than one,
// with every compiler and every option. (Symmetric transfer would do the same only where the
// compiler turns it into a jump, and g++ 12 does not without optimisation or with sanitizers.)
class promise_base : public detail::queued_job {
 public:
  promise_base() noexcept : first_(nullptr) { call = &called; }
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;

  // -- the chain ----------------------------------------------------------------------------------
  // This task starts a chain.
  void start_chain(chain_owner& owner, lane& home) noexcept {
    after_ = reinterpret_cast<std::uintptr_t>(&owner) | owner_bit;
    home_ = &home;
    new (&waiting_) wait_state;
  }
  // This task runs while `parent` waits for it.
  void start_under(promise_base& parent) noexcept {
    after_ = reinterpret_cast<std::uintptr_t>(&parent);
    home_ = parent.home_;
    first_ = &parent.first();
  }
  [[nodiscard]] promise_base& first() noexcept { return is_first() ? *this : *first_; }
  [[nodiscard]] chain_owner& owner() noexcept {
    return *reinterpret_cast<chain_owner*>(first().after_ & ~owner_bit);
  }
  // Of the chain.
  [[nodiscard]] wait_state& waiting() noexcept { return first().waiting_; }

  // -- where it goes on ---------------------------------------------------------------------------
  // A task always goes on in the lane it was in, wherever that which it awaited ended.
  [[nodiscard]] lane& home() const noexcept { return *home_; }
  void move_to(lane& l) noexcept { home_ = &l; }
  // From outside. After this line the frame may be gone.
  void post() noexcept { home_->post(*this); }
  // On this thread, now: returns when the chain, and what it gave way to, waits or has ended.
  void run() noexcept;
  // The task has ended: gives way to the one that awaits it, or tells the chain's owner.
  void end() noexcept;

  [[nodiscard]] std::coroutine_handle<> handle() noexcept {
    // Right for every promise that starts with a promise_base and is not over-aligned; task sees to
    // that.
    return std::coroutine_handle<promise_base>::from_promise(*this);
  }

  // Frames come from the free lists of the thread.
  static void* operator new(std::size_t size) { return detail::job_memory::take_frame(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    detail::job_memory::put_frame(memory, size);
  }

 private:
  static constexpr std::uintptr_t owner_bit = 1;

  static void called(detail::job& self, detail::job_fate fate) noexcept;
  [[gnu::cold]] void run_observed() noexcept;
  static promise_base* next_of(detail::running& here) noexcept {
    return static_cast<promise_base*>(std::exchange(here.next, nullptr));
  }

  [[nodiscard]] bool is_first() const noexcept { return (after_ & owner_bit) != 0; }

  std::uintptr_t after_ = 0;  // who goes on afterwards: a promise, or the chain's owner
  lane* home_ = nullptr;
  union {
    promise_base* first_;  // of the chain
    wait_state waiting_;   // in the first task of a chain
  };
};

// `from`, which runs on this thread and is about to suspend for good or has done so, gives way to
// `to`. After this line both frames may be gone.
inline void go_on(promise_base& from, promise_base& to) noexcept {
  auto& here = detail::running::on_this_thread();
  // Else somebody has resumed `from` by its handle, outside any loop or in the middle of another
  // chain, which must not have to wait for it.
  if (here.runs_chain(&from.first())) [[likely]] {
    here.next = &to;
  } else {
    to.run();
  }
}

inline void promise_base::run() noexcept {
  auto& here = detail::running::on_this_thread();
  if (here.observer != nullptr) [[unlikely]]
    return run_observed();
  const auto outer = here.now();
  detail::queued_job* const outer_next = std::exchange(here.next, nullptr);
  for (promise_base* p = this; p != nullptr; p = next_of(here)) {
    here.begin_chain(&p->first());
    p->handle().resume();
  }
  here.go_back(outer);
  here.next = outer_next;
}

inline void promise_base::end() noexcept {
  if (is_first()) return owner().ended(*this);
  auto& parent = *reinterpret_cast<promise_base*>(after_);
  if (parent.home_ == home_) {
    go_on(*this, parent);
  } else {
    parent.post();
  }
}

// Goes on with tasks whose waits were given up. Apart from wait_state::stop(), because whoever
// calls that may hold a lock that keeps the chain alive, and a task that goes on may end it.
inline void post_all(detail::job_list released) noexcept {
  while (detail::queued_job* const job = released.pop_front()) {
    static_cast<promise_base*>(job)->post();
  }
}

// Asks a chain that cannot end meanwhile to stop: what it waits for is given up, and it begins to
// wait for nothing more.
inline void stop_chain(promise_base& first) noexcept {
  detail::job_list released;
  first.waiting().stop(released);
  post_all(released);
}

}  // namespace weft::coro
