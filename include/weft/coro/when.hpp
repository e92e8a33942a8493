#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/core/errors.hpp>
#include <weft/core/job_types.hpp>
#include <weft/coro/branches.hpp>
#include <weft/coro/task.hpp>

namespace weft {

// What when_any() of several tasks of one type gives: the value of the first to end, and which it
// was.
template <class T>
struct first_of {
  std::size_t index = 0;
  detail::value_of<T> value;
};

namespace coro {

template <class T>
chain_starts starts_of(std::vector<task<T>>& tasks) noexcept {
  return {&tasks, tasks.size(), [](void* all, std::size_t i) noexcept -> promise_base& {
            return *(*static_cast<std::vector<task<T>>*>(all))[i].promise_if_any();
          }};
}

// The tasks of a tuple, and where their promises are.
template <class... Ts>
struct task_tuple {
  explicit task_tuple(task<Ts>... all) noexcept
      : tasks(std::move(all)...),
        promises(
            std::apply([](auto&... t) { return promise_array{t.promise_if_any()...}; }, tasks)) {}

  using promise_array = std::array<promise_base*, sizeof...(Ts)>;
  std::tuple<task<Ts>...> tasks;
  promise_array promises;
};
template <class... Ts>
chain_starts starts_of(task_tuple<Ts...>& tasks) noexcept {
  return {&tasks, sizeof...(Ts), [](void* all, std::size_t i) noexcept -> promise_base& {
            return *static_cast<task_tuple<Ts...>*>(all)->promises[i];
          }};
}

// Several tasks, their chains and the wait for them: what co_await of when_all and when_any is.
template <class Branches, class Tasks>
class branching {
 public:
  explicit branching(Tasks tasks) noexcept : tasks_(std::move(tasks)) {}

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return branches_.start(parent.promise(), starts_of(tasks_));
  }

 protected:
  void finish() {
    branches_.finish();
    if (branches_.called_off()) throw cancelled();
  }

  Tasks tasks_;
  Branches branches_;
};

template <class T>
detail::value_of<T> take_value(task<T>& t) {
  return detail::call_for_value([&]() -> T { return t.promise("when").take(); });
}

template <class... Ts>
class all_of_tuple : public branching<all_branches, task_tuple<Ts...>> {
 public:
  using branching<all_branches, task_tuple<Ts...>>::branching;
  auto await_resume() {
    this->finish();
    return std::apply(
        [](auto&... t) {
          if constexpr ((std::is_void_v<Ts> && ...)) {
            (t.promise("when_all").take(), ...);
          } else {
            // Braces: from left to right, so the first error by position is thrown.
            return std::tuple<detail::value_of<Ts>...>{take_value(t)...};
          }
        },
        this->tasks_.tasks);
  }
};

template <class Branches, class T>
using vector_branching = branching<Branches, std::vector<task<T>>>;

template <class T>
class all_of_vector : public vector_branching<all_branches, T> {
 public:
  using vector_branching<all_branches, T>::vector_branching;
  auto await_resume() {
    this->finish();
    if constexpr (std::is_void_v<T>) {
      for (auto& t : this->tasks_) t.promise("when_all").take();
    } else {
      std::vector<T> values;
      values.reserve(this->tasks_.size());
      for (auto& t : this->tasks_) values.push_back(t.promise("when_all").take());
      return values;
    }
  }
};

template <class... Ts>
class any_of_tuple : public branching<any_branches, task_tuple<Ts...>> {
 public:
  using branching<any_branches, task_tuple<Ts...>>::branching;
  auto await_resume() {
    this->finish();
    return take(std::index_sequence_for<Ts...>{}, this->branches_.winner());
  }

 private:
  using result = std::variant<detail::value_of<Ts>...>;

  template <std::size_t... Is>
  result take(std::index_sequence<Is...> /*all*/, std::size_t winner) {
    using take_one = result (*)(std::tuple<task<Ts>...>&);
    constexpr std::array<take_one, sizeof...(Ts)> by_index{
        [](std::tuple<task<Ts>...>& tasks) -> result {
          return result(std::in_place_index<Is>, take_value(std::get<Is>(tasks)));
        }...};
    return by_index[winner](this->tasks_.tasks);
  }
};

template <class T>
class any_of_vector : public vector_branching<any_branches, T> {
 public:
  using vector_branching<any_branches, T>::vector_branching;
  first_of<T> await_resume() {
    this->finish();
    const std::size_t index = this->branches_.winner();
    return {.index = index, .value = take_value(this->tasks_[index])};
  }
};

template <class T>
void require_tasks(const std::vector<task<T>>& tasks, const char* call) {
  for (const auto& t : tasks) t.require_valid(call);
}

}  // namespace coro

// co_await when_all(a(), b()): runs the tasks side by side in the lane of the one that awaits, and
// gives their values in the order of the arguments; void counts as std::monostate, and when all are
// void, nothing is given. Waits for all, also when some fail; then throws the error of the first by
// position. Asking the waiting task to stop asks them all.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
[[nodiscard]] coro::all_of_tuple<Ts...> when_all(task<Ts>... tasks) {
  (tasks.require_valid("when_all"), ...);
  return coro::all_of_tuple<Ts...>(coro::task_tuple<Ts...>(std::move(tasks)...));
}
template <class T>
[[nodiscard]] coro::all_of_vector<T> when_all(std::vector<task<T>> tasks) {
  coro::require_tasks(tasks, "when_all");
  return coro::all_of_vector<T>(std::move(tasks));
}

// co_await when_any(a(), b()): as when_all(), but when the first one ends, with a value or an
// error, the others are asked to stop. Gives its value as a variant with the index of the argument,
// or throws its error, once all have ended. Errors: std::invalid_argument for an empty vector,
// which would never end.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
[[nodiscard]] coro::any_of_tuple<Ts...> when_any(task<Ts>... tasks) {
  (tasks.require_valid("when_any"), ...);
  return coro::any_of_tuple<Ts...>(coro::task_tuple<Ts...>(std::move(tasks)...));
}
template <class T>
[[nodiscard]] coro::any_of_vector<T> when_any(std::vector<task<T>> tasks) {
  if (tasks.empty()) {
    throw std::invalid_argument("weft: when_any of no tasks would never end; pass at least one");
  }
  coro::require_tasks(tasks, "when_any");
  return coro::any_of_vector<T>(std::move(tasks));
}

}  // namespace weft
