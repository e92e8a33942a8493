#pragma once

#include <coroutine>
#include <cstdint>
#include <mutex>

#include <weft/core/errors.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

class event_wait;

}  // namespace coro

// Something that happens once, or again after reset(): tasks wait until it has.
//
//   weft::async_event ready;
//   co_await ready.wait();      // goes on at once when it is set
//   ready.set();                // everyone goes on
//
// Threads: any. Errors: wait() throws cancelled when the task is asked to stop.
// Lifetime: outlives everyone who waits; set() is its last touch of the event.
class async_event {
 public:
  explicit async_event(bool is_set = false) noexcept : is_set_(is_set) {}
  ~async_event();
  async_event(const async_event&) = delete;
  async_event& operator=(const async_event&) = delete;

  [[nodiscard]] coro::event_wait wait() noexcept;
  void set() noexcept;
  // Whoever waits from now on waits for the next set().
  void reset() noexcept;
  [[nodiscard]] bool is_set() const noexcept;

 private:
  friend class coro::event_wait;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  coro::event_wait* first_ = nullptr;  // newest first: all go on together
  bool is_set_;
};

namespace coro {

// Small, because there may be a million of them.
class event_wait final : public wait {
 public:
  explicit event_wait(async_event& e) noexcept : event_(&e) {}
  event_wait(const event_wait&) = delete;
  event_wait& operator=(const event_wait&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return event_->is_set(); }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    return suspend(waiter.promise());
  }
  void await_resume();

 private:
  friend class weft::async_event;

  [[nodiscard]] bool suspend(promise_base& waiter) noexcept;
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "an event"; }

  [[nodiscard]] bool is_withdrawn() const noexcept { return link_ == &next_; }

  async_event* event_;
  // Guarded by the event's mutex. link_ is the pointer that leads here while it is queued, null
  // before and after, and its own next_ when it was called off.
  event_wait* next_ = nullptr;
  event_wait** link_ = nullptr;
};

}  // namespace coro

inline coro::event_wait async_event::wait() noexcept { return coro::event_wait(*this); }

}  // namespace weft
