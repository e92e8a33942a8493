#pragma once

#include <coroutine>
#include <stop_token>
#include <string_view>

#include <weft/coro/task.hpp>

namespace weft::this_task {

namespace detail {

// Awaitables that ask the running task something and go on at once.
template <class Ask>
class question {
 public:
  explicit question(Ask ask) noexcept : ask_(ask) {}
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> task) noexcept {
    me_ = &task.promise();
    return false;
  }
  auto await_resume() const noexcept { return ask_(*me_); }

 private:
  Ask ask_;
  coro::promise_base* me_ = nullptr;
};

}  // namespace detail

// co_await this_task::stop_requested(): whether the running task was asked to stop.
[[nodiscard]] inline auto stop_requested() noexcept {
  return detail::question([](coro::promise_base& me) { return me.waiting().is_stopped(); });
}

// co_await this_task::stop_token(): for code that takes one. Awaiting needs none: it listens
// itself.
[[nodiscard]] inline auto stop_token() noexcept {
  return detail::question([](coro::promise_base& me) { return me.owner().stop_token(); });
}

// co_await this_task::name(): as given to spawn; empty when none was.
[[nodiscard]] inline auto name() noexcept {
  return detail::question([](coro::promise_base& me) { return me.owner().name(); });
}

// co_await this_task::lane(): where it runs, to come back to.
[[nodiscard]] inline auto lane() noexcept {
  return detail::question([](coro::promise_base& me) { return &me.home(); });
}

}  // namespace weft::this_task
