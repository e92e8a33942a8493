#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include <weft/core/parallel/ranges.hpp>

namespace weft {

// An operation that may be grouped in any way: op(op(a, b), c) is op(a, op(b, c)). It need not
// commute. T is the type of the result; a piece of the input starts with its first element made
// into a T.
template <class Op, class T, class U>
concept associative_op =
    std::movable<T> && std::convertible_to<U, T> && std::invocable<Op&, T, U> &&
    std::invocable<Op&, T, T> && std::assignable_from<T&, std::invoke_result_t<Op&, T, U>> &&
    std::assignable_from<T&, std::invoke_result_t<Op&, T, T>>;

namespace detail {

// op(... op(op(so_far, x[begin]), x[begin + 1]) ..., x[end - 1]), x being the projected elements.
template <class T, class I, class Op, class Proj>
T fold(T so_far, const I& first, std::size_t begin, std::size_t end, Op& op, Proj& proj) {
  for (std::size_t i = begin; i < end; ++i) {
    so_far = std::invoke(op, std::move(so_far), std::invoke(proj, element(first, i)));
  }
  return so_far;
}

// The same without anything before the first element. The range is not empty.
template <class T, class I, class Op, class Proj>
T fold_from_first(const I& first, std::size_t begin, std::size_t end, Op& op, Proj& proj) {
  T start = std::invoke(proj, element(first, begin));
  return fold(std::move(start), first, begin + 1, end, op, proj);
}

}  // namespace detail
}  // namespace weft
