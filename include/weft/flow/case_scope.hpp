#pragma once

#include <concepts>
#include <memory>
#include <ranges>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/flow/instance_call.hpp>
#include <weft/flow/instance_place.hpp>
#include <weft/flow/join_rule.hpp>

namespace weft {

namespace flow {

class case_group;  // src/flow/case_scope.cpp

// f for one item of its own; the result is dropped.
template <class F, class T>
task<void> run_in_case(std::shared_ptr<F> f, T item) {
  constexpr auto none = [] { return no_ticket{}; };
  std::stop_token token;
  if constexpr (body_form<F, T&, no_ticket>::wants_token) {
    token = co_await this_task::stop_token();
  }
  if constexpr (body_kind<F, T&> == task_kind::coroutine) {
    auto work = call_body(*f, token, item, none);
    co_await std::move(work);
  } else {
    static_cast<void>(call_body(*f, token, item, none));
  }
}

template <class F>
task<void> run_in_case(F f) {
  co_await io::as_task(std::move(f));
}

}  // namespace flow

// A case: what its activities start runs beside them, belongs to the case, and is joined by it.
// (12)
//
//   weft::case_scope c(hs);
//   c.each(infringements, notify);      // no join here
//   ...
//   co_await c.join();                  // the case ends when all of them have
//
// Instances are functions, on the cores, or coroutines, in the I/O lane; spawn_options decides
// otherwise.
//
// Threads: any; join() by one task. Blocks: the destructor; a worker helps meanwhile.
// Errors: join() throws what the instance with the lowest index threw; the destructor drops it.
// Lifetime: the destructor waits for all instances, and cancels them first when it runs because of
//   an exception. On an I/O thread whose instances have not ended that would wait for ever, and
//   aborts: join() before. In a forked child it does nothing.
//   A coroutine that went to another thread meanwhile joins, too: exceptions are counted there, and
//   one that is on its way in what that thread helps with would count for this case.
class case_scope {
 public:
  explicit case_scope(instance_place where);
  ~case_scope();
  case_scope(const case_scope&) = delete;
  case_scope& operator=(const case_scope&) = delete;

  // f(item) for a copy of every item: the activity that had them need not wait. False: the case has
  // ended, and nobody was started for the rest of the items.
  template <std::ranges::input_range Range, class F>
  bool each(Range&& items, F&& f, const spawn_options& options = {}) {
    using function = std::decay_t<F>;
    using item = std::ranges::range_value_t<Range>;
    static_assert(flow::body_form<function, item&, flow::no_ticket>::is_valid,
                  "weft: case_scope::each needs f(item) or f(std::stop_token, item)");
    detail::require_callable(f, "case_scope::each");
    const auto shared = std::make_shared<function>(std::forward<F>(f));
    for (auto&& x : items) {
      auto work = flow::run_in_case<function, item>(shared, item(std::forward<decltype(x)>(x)));
      if (!start(std::move(work), flow::body_kind<function, item&>, options)) return false;
    }
    return true;
  }

  // A single instance. False: the case has ended.
  bool spawn(task<void> t, const spawn_options& options = {}) {
    t.require_valid("case_scope::spawn");
    return start(std::move(t), task_kind::coroutine, options);
  }
  template <class F>
    requires runnable<F>
  bool spawn(F&& f, const spawn_options& options = {}) {
    using function = std::decay_t<F>;
    detail::require_callable(f, "case_scope::spawn");
    return start(flow::run_in_case<function>(std::forward<F>(f)),
                 io::task_result<run_result_t<function>>::kind, options);
  }

  // co_await join(): all instances have ended, also those that they have started. When the waiting
  // task is asked to stop, so are they.
  [[nodiscard]] task<void> join();
  // Withdraws what has not ended; join() then throws cancelled.
  void cancel() noexcept;
  [[nodiscard]] group_progress progress() const noexcept;

 private:
  bool start(task<void> work, task_kind kind, const spawn_options& options);

  const std::shared_ptr<flow::case_group> group_;
  const int exceptions_;  // under way when it was made
};

}  // namespace weft
