#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <ranges>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/core/errors.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/coro/when.hpp>
#include <weft/flow/instance_group.hpp>

namespace weft {

namespace flow {

// What each() needs no group for: nothing limits, ends or names the instances.
[[nodiscard]] bool is_plain(const instance_options& options) noexcept;
// Throws std::invalid_argument for options that leave instances without a value.
void require_all_values(const instance_options& options, const char* call);

template <class Range, class F>
concept instances_of =
    std::ranges::forward_range<Range> && std::ranges::viewable_range<Range> &&
    body_form<std::decay_t<F>, std::ranges::range_reference_t<Range>, no_ticket>::is_valid;

// For calls that are no instances_of: the sentence that tells why.
template <class Range, class F>
void explain_call() {
  constexpr bool is_range = std::ranges::forward_range<Range> && std::ranges::viewable_range<Range>;
  static_assert(is_range,
                "weft: the items of each(place, items, f) must be a forward range that can be kept "
                "or referred to, such as a vector");
  if constexpr (is_range) {
    static_assert(
        body_form<std::decay_t<F>, std::ranges::range_reference_t<Range>, no_ticket>::is_valid,
        "weft: the body of each(place, items, f) must be callable as f(item) or "
        "f(std::stop_token, item)");
  }
}

template <class Range, class F>
using each_result_t = body_result_t<std::decay_t<F>, std::ranges::range_reference_t<Range>>;
template <class Range, class F>
using each_value_t = detail::value_of<each_result_t<Range, F>>;

// One instance. As in a group, one that has not begun when it is asked to stop never will.
template <class R, class F, class Iterator>
task<R> run_one(F& f, Iterator at) {
  if (co_await this_task::stop_requested()) throw cancelled();
  using item = std::iter_reference_t<Iterator>;
  constexpr auto none = [] { return no_ticket{}; };
  std::stop_token token;
  if constexpr (body_form<F, item, no_ticket>::wants_token) {
    token = co_await this_task::stop_token();
  }
  if constexpr (body_kind<F, item> == task_kind::coroutine) {
    item x = *at;  // one that its range makes on the way lives as long as the instance
    auto work = call_body(f, token, std::forward<item>(x), none);
    co_return co_await std::move(work);
  } else {
    co_return call_body(f, token, *at, none);
  }
}

template <class R, class View, class F>
task<std::vector<detail::value_of<R>>> run_plain(instance_place where, View items, F f,
                                                 std::optional<lane_kind> lane) {
  constexpr task_kind kind = body_kind<F, std::ranges::range_reference_t<View>>;
  const io::placement to = where.choose(kind, {.lane = lane});
  co_await where.hop_to(to);
  std::vector<task<R>> instances;
  instances.reserve(static_cast<std::size_t>(std::ranges::distance(items)));
  for (auto at = items.begin(); at != items.end(); ++at) instances.push_back(run_one<R>(f, at));
  std::vector<detail::value_of<R>> values;
  if constexpr (std::is_void_v<R>) {
    values.resize(instances.size());
    co_await when_all(std::move(instances));
  } else {
    values = co_await when_all(std::move(instances));
  }
  if (co_await this_task::stop_requested()) throw cancelled();
  co_return values;
}

template <class R, class View, class F>
task<std::vector<outcome<R>>> run_group(instance_place where, View items, F f,
                                        instance_options options, std::string name) {
  options.name = name;  // the caller's may be gone when the task starts
  using iterator = std::ranges::iterator_t<View>;
  using item = std::ranges::range_reference_t<View>;
  // Items stay where they are: the group holds their places.
  const auto body = [&f] {
    if constexpr (body_kind<F, item> == task_kind::coroutine) {
      return [&f](iterator at) { return run_one<R>(f, at); };
    } else if constexpr (body_form<F, item, no_ticket>::wants_token) {
      return [&f](std::stop_token token, iterator at) -> body_return_t<F, item, no_ticket> {
        return std::invoke(f, std::move(token), *at);
      };
    } else {
      return [&f](iterator at) -> body_return_t<F, item, no_ticket> { return std::invoke(f, *at); };
    }
  }();
  instance_group<iterator, R> group(std::move(where), body, options);
  auto next = items.begin();
  std::exception_ptr bad_range;
  try {
    auto ticket = group.open();
    for (; next != items.end() && ticket.add(next); ++next) {
    }
  } catch (...) {
    bad_range = std::current_exception();
  }
  if (bad_range) {
    group.cancel();
    co_await group.drain();  // the destructor may not wait for them on an I/O thread
    std::rethrow_exception(bad_range);
  }
  auto outcomes = co_await group.join();
  co_await group.drain();
  // There was no time to add the others. A range that never ends has no last one.
  if constexpr (!std::same_as<std::ranges::sentinel_t<View>, std::unreachable_sentinel_t>) {
    if (group.ended_by() == group_end::timed_out) {
      for (; next != items.end(); ++next) {
        outcomes.emplace_back(outcomes.size(), 0U, outcome_kind::timed_out);
      }
    }
  }
  co_return outcomes;
}

// The values of all, or what the failure with the lowest index throws.
template <class R>
task<std::vector<detail::value_of<R>>> values_of(task<std::vector<outcome<R>>> work) {
  auto outcomes = co_await std::move(work);
  const outcome<R>* first = nullptr;
  for (const outcome<R>& o : outcomes) {
    const auto rank = [](const outcome<R>& x) {
      return std::pair(x.kind() == outcome_kind::cancelled, x.index());
    };
    if (!o && (first == nullptr || rank(o) < rank(*first))) first = &o;
  }
  if (first != nullptr) static_cast<void>(first->value());  // throws
  std::vector<detail::value_of<R>> values;
  values.reserve(outcomes.size());
  for (outcome<R>& o : outcomes) values.push_back(std::move(o).value());
  co_return values;
}

template <std::size_t... I, class T>
std::array<T, sizeof...(I)> to_array(std::index_sequence<I...> /*all*/, std::vector<T>& values) {
  return {std::move(values[I])...};
}

template <class T, std::size_t N>
task<std::array<T, N>> as_array(task<std::vector<T>> work) {
  std::vector<T> values = co_await std::move(work);
  co_return to_array(std::make_index_sequence<N>{}, values);
}

// f() or f(index).
template <class F>
auto with_index(F&& f) {
  using function = std::decay_t<F>;
  static_assert(body_form<function, std::size_t, no_ticket>::is_valid ||
                    std::invocable<function&, std::stop_token> || std::invocable<function&>,
                "weft: the body of times<N>(place, f) must be callable as f(), f(index), "
                "f(std::stop_token) or f(std::stop_token, index)");
  if constexpr (body_form<std::decay_t<F>, std::size_t, no_ticket>::is_valid) {
    return std::forward<F>(f);
  } else if constexpr (std::invocable<std::decay_t<F>&, std::stop_token>) {
    return [f = std::forward<F>(f)](std::stop_token token, std::size_t) mutable {
      return std::invoke(f, std::move(token));
    };
  } else if constexpr (std::invocable<function&>) {
    return [f = std::forward<F>(f)](std::size_t) mutable { return std::invoke(f); };
  } else {
    return [](std::size_t) {};  // the assertion has said it
  }
}

}  // namespace flow

// co_await each(hs, items, f): f(item) for every item, side by side; the values in their order, or
// in order of completion if options say so. (14)
//
// f is a function, on the cores, or returns a task, in the I/O lane; it gets a reference to the
// item in the range, and before it a std::stop_token if it wants one. void counts as
// std::monostate. All instances run whatever becomes of others, unless options.tolerated is given.
// When the waiting task is asked to stop, so are they.
//
// Errors: when some have failed, what the one with the lowest index threw, after all have ended;
//   cancelled; timed_out; std::invalid_argument for options, also for those that would leave
//   instances without a value: a join rule, or failures that are tolerated. See each_outcome().
// Lifetime: a range that is no rvalue, and its items, outlive the task.
template <class Range, class F>
  requires flow::instances_of<Range, F>
[[nodiscard]] task<std::vector<flow::each_value_t<Range, F>>> each(
    instance_place where, Range&& items, F&& f, const instance_options& options = {}) {
  using result = flow::each_result_t<Range, F>;
  detail::require_callable(f, "each");
  flow::require_all_values(options, "each");
  auto view = std::views::all(std::forward<Range>(items));
  if (flow::is_plain(options)) {
    return flow::run_plain<result>(std::move(where), std::move(view),
                                   std::decay_t<F>(std::forward<F>(f)), options.lane);
  }
  return flow::values_of<result>(flow::run_group<result>(std::move(where), std::move(view),
                                                         std::decay_t<F>(std::forward<F>(f)),
                                                         options, std::string(options.name)));
}

// As each(), with any options: what became of every instance. Items for which there was no need any
// more, because the join rule fired before they were added, have no outcome; what the rule lets
// finish is waited for, but has none either.
template <class Range, class F>
  requires flow::instances_of<Range, F>
[[nodiscard]] task<std::vector<outcome<flow::each_result_t<Range, F>>>> each_outcome(
    instance_place where, Range&& items, F&& f, const instance_options& options = {}) {
  using result = flow::each_result_t<Range, F>;
  detail::require_callable(f, "each_outcome");
  flow::check_options(options, "each_outcome");
  return flow::run_group<result>(std::move(where), std::views::all(std::forward<Range>(items)),
                                 std::decay_t<F>(std::forward<F>(f)), options,
                                 std::string(options.name));
}

// They do not compile, and say what is wrong; so `requires { each(...); }` tells nothing.
template <class Range, class F>
  requires(!flow::instances_of<Range, F>)
task<void> each(const instance_place& /*where*/, Range&& /*items*/, F&& /*f*/,
                const instance_options& /*options*/ = {}) {
  flow::explain_call<Range, F>();
  return {};
}
template <class Range, class F>
  requires(!flow::instances_of<Range, F>)
task<void> each_outcome(const instance_place& /*where*/, Range&& /*items*/, F&& /*f*/,
                        const instance_options& /*options*/ = {}) {
  flow::explain_call<Range, F>();
  return {};
}

// co_await times<6>(hs, f): f() or f(index), so often, as each(). (13)
template <std::size_t N, class F>
[[nodiscard]] auto times(instance_place where, F&& f, const instance_options& options = {}) {
  detail::require_callable(f, "times");
  auto values = each(std::move(where), std::views::iota(std::size_t{0}, N),
                     flow::with_index(std::forward<F>(f)), options);
  using value = typename decltype(values)::value_type::value_type;
  return flow::as_array<value, N>(std::move(values));
}

}  // namespace weft
