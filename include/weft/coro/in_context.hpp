#pragma once

#include <coroutine>
#include <stop_token>
#include <utility>

#include <weft/core/context.hpp>
#include <weft/coro/when.hpp>

namespace weft {

namespace coro {

// One branch, with a context of its own.
class branch_in_context final : public branches {
 public:
  explicit branch_in_context(weft::context c) noexcept : context_(std::move(c)) {}

 private:
  void ended(promise_base& first) noexcept override { count_end(first); }
  [[nodiscard]] std::stop_token stop_token() noexcept override {
    return parent().owner().stop_token();
  }
  [[nodiscard]] const char* what() const noexcept override { return "in_context"; }
  [[nodiscard]] const detail::context_node* on_behalf_of() const noexcept override {
    return context_.node();
  }

  const weft::context context_;
};

template <class T>
class task_in_context {
 public:
  task_in_context(weft::context c, task<T> t) noexcept
      : tasks_(std::move(t)), branch_(std::move(c)) {}

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return branch_.start(parent.promise(), starts_of(tasks_));
  }
  T await_resume() {
    branch_.finish();
    if (branch_.called_off()) throw cancelled();
    return std::get<0>(tasks_.tasks).promise("in_context").take();
  }

 private:
  task_tuple<T> tasks_;
  branch_in_context branch_;
};

}  // namespace coro

// co_await in_context(context::from_traceparent(header, "checkout"), serve(request)): the task, and
// what it spawns and awaits, runs on that behalf. Asking the waiting task to stop asks it, too.
template <class T>
[[nodiscard]] coro::task_in_context<T> in_context(context c, task<T> t) {
  t.require_valid("in_context");
  return {std::move(c), std::move(t)};
}

}  // namespace weft
