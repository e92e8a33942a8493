#pragma once

#include <chrono>
#include <coroutine>
#include <mutex>
#include <optional>

#include <weft/core/errors.hpp>
#include <weft/core/future.hpp>
#include <weft/core/job.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/timer_wheel.hpp>

namespace weft {

namespace coro {

class timer_wait;

// The timers that one thread looks after.
//
// Threads: add() and remove() from any; expire() and next_due() from the one that looks after them.
class timer_queue {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;

  // False when the wait was called off before. Otherwise the frame may be gone when this returns.
  [[nodiscard]] bool add(timer_wait& w, time_point due) noexcept;
  // True when it was in the queue, and is not any more. One that is not in it yet will never be.
  [[nodiscard]] bool remove(timer_wait& w) noexcept;

  // The tasks whose time has come: the caller posts them. From the caller's next look on, which is
  // at next_due() at the latest, sooner() is called for timers that come before it.
  [[nodiscard]] detail::job_list expire(time_point now) noexcept;
  // Nothing: there is no timer.
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return !next_due(); }

  // Where tasks that run on this thread put their timers: the queue of the thread if it looks after
  // one, else that of a thread for all timers of the process, which is started for the first of
  // them.
  static timer_queue& here();
  // For the threads that look after one.
  static void set_here(timer_queue* own) noexcept;

 protected:
  timer_queue() = default;
  ~timer_queue() = default;

 private:
  // A timer was added that comes before all others. Without the lock.
  virtual void sooner() noexcept = 0;

  mutable std::mutex mutex_;
  timer_wheel wheel_{std::chrono::steady_clock::now()};
};

class timer_wait final : public wait, private timer_node {
 public:
  explicit timer_wait(std::chrono::steady_clock::time_point due) noexcept : due_(due) {}
  timer_wait(const timer_wait&) = delete;
  timer_wait& operator=(const timer_wait&) = delete;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) {
    return suspend(waiter.promise());
  }
  void await_resume();

 private:
  friend class timer_queue;
  enum class phase : std::uint8_t { fresh, queued, fired, withdrawn };

  [[nodiscard]] bool suspend(promise_base& waiter);
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "a timer"; }

  const std::chrono::steady_clock::time_point due_;
  timer_queue* queue_ = nullptr;
  phase at_ = phase::fresh;  // guarded by the queue's mutex until the task goes on
};

}  // namespace coro

// co_await sleep_for(10ms): goes on after that time, never before, and about a tenth of a
// millisecond later on a machine with time to spare. Zero and negative times let others go first,
// as yield() does. Throws cancelled when the task is asked to stop.
template <class Rep, class Period>
[[nodiscard]] coro::timer_wait sleep_for(std::chrono::duration<Rep, Period> time) {
  return coro::timer_wait(detail::deadline_after(time));
}
[[nodiscard]] inline coro::timer_wait sleep_until(
    std::chrono::steady_clock::time_point due) noexcept {
  return coro::timer_wait(due);
}

}  // namespace weft
