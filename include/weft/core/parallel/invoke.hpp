#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/core/join.hpp>

namespace weft {
namespace detail {

// Runs all of them; the results, std::monostate for void, as a tuple.
template <class F, class... Rest>
auto invoke_all(F& first, Rest&... rest) {
  using one = std::tuple<value_of<std::invoke_result_t<F&>>>;
  if constexpr (sizeof...(Rest) == 0) {
    return one(call_for_value(first));
  } else {
    auto others = [&] { return invoke_all(rest...); };
    auto [head, tail] = fork_and_join(first, others);
    return std::tuple_cat(one(std::forward<decltype(head)>(head)), std::move(tail));
  }
}

}  // namespace detail

// Runs all of them, possibly at the same time, and returns their results as a tuple when all are
// done; void results become std::monostate, and when all are void, so is the call.
//
//   weft::parallel_invoke([&] { sort(a); }, [&] { sort(b); }, [&] { sort(c); });
//
// The first runs on this thread. Errors: all finish, and the exception of the first one in the list
// that threw is rethrown. Blocks: until all are done.
template <std::invocable... Fs>
  requires(sizeof...(Fs) > 0)
auto parallel_invoke(Fs&&... fs) {
  (detail::require_callable(fs, "parallel_invoke"), ...);
  if constexpr ((std::is_void_v<std::invoke_result_t<Fs&>> && ...)) {
    detail::invoke_all(fs...);
  } else {
    return detail::invoke_all(fs...);
  }
}

}  // namespace weft
