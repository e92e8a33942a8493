#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/core/job_types.hpp>
#include <weft/coro/promise.hpp>

namespace weft {

template <class T>
class task;

namespace coro {

// Whether co_await of a weft awaitable may stand in a coroutine with this promise.
template <class Promise>
concept task_promise_type = std::derived_from<Promise, promise_base>;

struct final_awaiter {
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> ended) noexcept {
    ended.promise().end();
  }
  void await_resume() noexcept {}
};

template <class T>
class promise_result : public promise_base {
 public:
  template <class U = T>
    requires std::convertible_to<U&&, T>
  void return_value(U&& value) {
    outcome_.fill([&]() -> T { return std::forward<U>(value); });
    if (outcome_.failed()) std::rethrow_exception(outcome_.error());
  }
  void unhandled_exception() noexcept { outcome_.fail(std::current_exception()); }
  [[nodiscard]] std::exception_ptr error() const noexcept { return outcome_.error(); }
  T take() { return outcome_.take(); }

 private:
  detail::outcome<T> outcome_;
};

template <>
class promise_result<void> : public promise_base {
 public:
  void return_void() noexcept {}
  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  [[nodiscard]] std::exception_ptr error() const noexcept { return error_; }
  void take() {
    if (error_ != nullptr) std::rethrow_exception(std::move(error_));
  }

 private:
  std::exception_ptr error_;
};

template <class T>
class task_promise final : public promise_result<T> {
 public:
  task<T> get_return_object() noexcept;
  [[nodiscard]] static std::suspend_always initial_suspend() noexcept { return {}; }
  [[nodiscard]] static final_awaiter final_suspend() noexcept { return {}; }
};

}  // namespace coro

// A coroutine that starts when it is awaited, and ends before the one that awaits it goes on.
//
//   weft::task<std::string> fetch(std::string host) {
//     auto reply = co_await ask(host);
//     co_return reply.body;
//   }
//
// It is awaited once, as an rvalue: co_await fetch("a"), or co_await std::move(t).
// Where it runs: it starts in the lane of the one that awaits it; schedule_on() and the lanes of a
// hybrid_scheduler move it. Its parent goes on where the parent was.
// Stopping: when its chain is asked to stop, whatever it waits for throws weft::cancelled.
//
// Threads: one at a time. Errors: what the body throws comes out of co_await; std::logic_error for
// a task that was moved from or awaited before. Memory: frames come from free lists of the thread.
// Lifetime: a task that was never awaited is destroyed unstarted. As with every coroutine,
// reference parameters must outlive it.
template <class T = void>
class [[nodiscard]] task {
 public:
  using promise_type = coro::task_promise<T>;
  using value_type = T;

  task() noexcept = default;
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    if (this != &other) {
      reset();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }
  ~task() { reset(); }

  [[nodiscard]] bool valid() const noexcept { return frame_ != nullptr; }

  class awaiter {
   public:
    explicit awaiter(task t) noexcept : task_(std::move(t)) {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <coro::task_promise_type Promise>
    void await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      promise_type& child = task_.frame_.promise();
      child.start_under(parent.promise());
      coro::go_on(parent.promise(), child);
    }
    T await_resume() { return task_.frame_.promise().take(); }

   private:
    task task_;
  };

  awaiter operator co_await() && {
    require_valid("co_await");
    return awaiter(std::move(*this));
  }

  // For those who start chains: the promise stays this task's.
  [[nodiscard]] promise_type& promise(const char* call) {
    require_valid(call);
    return frame_.promise();
  }
  [[nodiscard]] promise_type* promise_if_any() noexcept {
    return frame_ != nullptr ? &frame_.promise() : nullptr;
  }
  // Throws std::logic_error; `call` is the one to blame.
  void require_valid(const char* call) const {
    if (frame_ != nullptr) return;
    throw std::logic_error(std::string("weft: ") + call +
                           " of a task without a coroutine: it was moved from or awaited before; a "
                           "task runs once, so make a new one for each run");
  }

 private:
  friend promise_type;
  using frame = std::coroutine_handle<promise_type>;

  explicit task(frame f) noexcept : frame_(f) {
    static_assert(alignof(promise_type) <= 2 * sizeof(void*),
                  "weft: the result of a task must not be over-aligned; return it by pointer");
  }
  void reset() noexcept {
    if (frame_ != nullptr) std::exchange(frame_, nullptr).destroy();
  }

  frame frame_ = nullptr;
};

template <class T>
task<T> coro::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace weft
