#pragma once

#include <coroutine>
#include <cstddef>

#include <weft/core/errors.hpp>
#include <weft/core/limiter.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

class permit_wait final : public wait, public limiter::request {
 public:
  explicit permit_wait(limiter& from) noexcept : from_(from) {}
  permit_wait(const permit_wait&) = delete;
  permit_wait& operator=(const permit_wait&) = delete;

  [[nodiscard]] bool await_ready() noexcept {
    permit_ = from_.try_acquire();
    return static_cast<bool>(permit_);
  }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    return suspend(waiter.promise());
  }
  // The right to go on; gives itself back. Throws cancelled when the task was asked to stop.
  limiter::permit await_resume();

 private:
  [[nodiscard]] bool suspend(promise_base& waiter) noexcept;
  void grant(limiter::permit p) noexcept override;
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "a permit"; }

  limiter& from_;
  limiter::permit permit_;
};

}  // namespace coro

// How many tasks may be somewhere at once; the number can change at any time.
//
//   weft::async_semaphore at_most(8);
//   auto permit = co_await at_most.acquire();      // until it goes out of scope
//
// First come, first served. The same permits as those of weft::limiter, on which it stands: threads
// may wait for them by limits().acquire().
// Threads: any. Errors: acquire() throws cancelled when the task is asked to stop.
// Lifetime: outlives its permits and everyone who waits.
class async_semaphore {
 public:
  explicit async_semaphore(std::size_t limit) noexcept : limiter_(limit) {}

  [[nodiscard]] coro::permit_wait acquire() noexcept { return coro::permit_wait(limiter_); }
  // Empty when none is free.
  [[nodiscard]] limiter::permit try_acquire() noexcept { return limiter_.try_acquire(); }
  void set_limit(std::size_t limit) noexcept { limiter_.set_limit(limit); }
  [[nodiscard]] limiter& limits() noexcept { return limiter_; }

 private:
  limiter limiter_;
};

// One task at a time. A lock is a permit: auto lock = co_await m.lock();
// A task may go from thread to thread while it holds one.
class async_mutex {
 public:
  [[nodiscard]] coro::permit_wait lock() noexcept { return coro::permit_wait(limiter_); }
  [[nodiscard]] limiter::permit try_lock() noexcept { return limiter_.try_acquire(); }

 private:
  limiter limiter_{1};
};

}  // namespace weft
