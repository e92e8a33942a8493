#pragma once

#include <coroutine>
#include <utility>

#include <weft/base/atomic.hpp>
#include <weft/core/errors.hpp>
#include <weft/core/future.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

// A task that waits for a latch.
class latch_wait final : public wait, private detail::waiter {
 public:
  [[nodiscard]] bool suspend(promise_base& who, detail::latch& done) noexcept;
  // After the task has gone on. False when it was called away.
  [[nodiscard]] bool finish() noexcept;

 private:
  void wake() noexcept override;
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "a future"; }
  [[nodiscard]] bool passes_gate() noexcept;

  detail::latch* done_ = nullptr;
  bool began_ = false;
  // Written by the task and by whoever wakes it or calls it away, once each: the second goes on.
  // acq_rel: with what the first has done.
  atomic<int> gate_{2};
};

template <class T>
class future_wait {
 public:
  explicit future_wait(future<T> f) : future_(std::move(f)) {}
  [[nodiscard]] bool await_ready() const { return future_.ready(); }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    return wait_.suspend(waiter.promise(), state_of(future_, "co_await").done());
  }
  T await_resume() {
    if (!wait_.finish()) throw cancelled();
    return future_.get();
  }

 private:
  future<T> future_;
  latch_wait wait_;
};

}  // namespace coro

// co_await std::move(f): the value of the future, or what its job threw. Uses the future up. When
// the waiting task is asked to stop it throws cancelled; the job goes on.
template <class T>
coro::future_wait<T> operator co_await(future<T>&& f) {
  return coro::future_wait<T>(std::move(f));
}

}  // namespace weft
