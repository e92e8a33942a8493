#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <ranges>
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

// Several tasks, their chains and the wait for them: what co_await of when_all and when_any is.
template <class Branches, class Tasks, class Firsts>
class branching {
 public:
  branching(Tasks tasks, Firsts firsts) noexcept
      : tasks_(std::move(tasks)), firsts_(std::move(firsts)) {}

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return branches_.start(parent.promise(), firsts_);
  }

 protected:
  void finish() {
    branches_.finish();
    if (branches_.called_off()) throw cancelled();
  }

  Tasks tasks_;
  Firsts firsts_;
  Branches branches_;
};

template <class T>
detail::value_of<T> take_value(task<T>& t) {
  return detail::call_for_value([&]() -> T { return t.promise("when").take(); });
}

template <class... Ts>
using tuple_branching =
    branching<all_branches, std::tuple<task<Ts>...>, std::array<promise_base*, sizeof...(Ts)>>;

template <class... Ts>
class all_of_tuple : public tuple_branching<Ts...> {
 public:
  using tuple_branching<Ts...>::tuple_branching;
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
        this->tasks_);
  }
};

template <class Branches, class T>
using vector_branching = branching<Branches, std::vector<task<T>>, std::vector<promise_base*>>;

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
class any_of_tuple : public branching<any_branches, std::tuple<task<Ts>...>,
                                      std::array<promise_base*, sizeof...(Ts)>> {
 public:
  using branching<any_branches, std::tuple<task<Ts>...>,
                  std::array<promise_base*, sizeof...(Ts)>>::branching;
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
    return by_index[winner](this->tasks_);
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
std::vector<promise_base*> firsts_of(std::vector<task<T>>& tasks, const char* call) {
  std::vector<promise_base*> firsts;
  firsts.reserve(tasks.size());
  for (auto& t : tasks) firsts.push_back(&t.promise(call));
  return firsts;
}

}  // namespace coro

// co_await when_all(a(), b()): runs the tasks side by side in the lane of the one that awaits, and
// gives their values in the order of the arguments; void counts as std::monostate, and when all are
// void, nothing is given. Waits for all, also when some fail; then throws the error of the first by
// position. Asking the waiting task to stop asks them all.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
[[nodiscard]] coro::all_of_tuple<Ts...> when_all(task<Ts>... tasks) {
  std::array<coro::promise_base*, sizeof...(Ts)> firsts{&tasks.promise("when_all")...};
  return {std::tuple<task<Ts>...>(std::move(tasks)...), firsts};
}
template <class T>
[[nodiscard]] coro::all_of_vector<T> when_all(std::vector<task<T>> tasks) {
  auto firsts = coro::firsts_of(tasks, "when_all");
  return {std::move(tasks), std::move(firsts)};
}

// co_await when_any(a(), b()): as when_all(), but when the first one ends, with a value or an
// error, the others are asked to stop. Gives its value as a variant with the index of the argument,
// or throws its error, once all have ended. Errors: std::invalid_argument for an empty vector,
// which would never end.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
[[nodiscard]] coro::any_of_tuple<Ts...> when_any(task<Ts>... tasks) {
  std::array<coro::promise_base*, sizeof...(Ts)> firsts{&tasks.promise("when_any")...};
  return {std::tuple<task<Ts>...>(std::move(tasks)...), firsts};
}
template <class T>
[[nodiscard]] coro::any_of_vector<T> when_any(std::vector<task<T>> tasks) {
  if (tasks.empty()) {
    throw std::invalid_argument("weft: when_any of no tasks would never end; pass at least one");
  }
  auto firsts = coro::firsts_of(tasks, "when_any");
  return {std::move(tasks), std::move(firsts)};
}

}  // namespace weft
