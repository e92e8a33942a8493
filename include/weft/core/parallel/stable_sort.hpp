#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include <weft/core/parallel/merge_sort.hpp>
#include <weft/core/parallel/sort.hpp>

namespace weft {

// Sorts in place and keeps the order of equal elements.
//
// Complexity: O(n log n) comparisons, O(n) for input that is sorted or strictly descending; memory
//   for as many elements again. Blocks: until sorted.
// Errors: an exception of comp or proj; the range then holds the same elements in some order.
//   std::bad_alloc; the range is then as it was.
template <std::ranges::random_access_range R, class Comp = std::ranges::less,
          class Proj = std::identity>
  requires parallel_sortable<R, Comp, Proj>
std::ranges::borrowed_iterator_t<R> parallel_stable_sort(R&& range, Comp comp = {},
                                                         Proj proj = {}) {
  using value = std::ranges::range_value_t<R>;
  static_assert(
      std::is_nothrow_move_constructible_v<value> && std::is_nothrow_move_assignable_v<value>,
      "weft: parallel_stable_sort moves elements between threads, so moving one must not "
      "throw; declare the move operations noexcept");
  const std::size_t size = detail::size_of(range);
  const auto first = detail::fast_iterator(std::ranges::begin(range), size);
  auto less = [&](auto& a, auto& b) -> bool {
    return std::invoke(comp, std::invoke(proj, a), std::invoke(proj, b));
  };
  const auto sort = [&] {
    detail::merge_sort<decltype(less)> sorter(less);
    const auto count = static_cast<std::ptrdiff_t>(size);
    detail::twin_array<value> twin(first, size);
    if constexpr (detail::is_plain<value>) {
      sorter.sort_in_place(first, count, twin.data());
    } else {
      sorter.sort_into(twin.data(), count, first);
    }
  };
  if (!detail::sort_if_one_run(first, size, less)) {
    // Inside a pool a fork cannot fail; outside, the first one could, with elements on their way.
    if (pool::current() == nullptr &&
        static_cast<std::ptrdiff_t>(size) > detail::merge_sort<decltype(less)>::worth_a_fork) {
      pool::global().run(sort);
    } else {
      sort();
    }
  }
  return detail::advanced(std::ranges::begin(range), size);
}

template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
          class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_sortable<std::ranges::subrange<I, S>, Comp, Proj>
I parallel_stable_sort(I first, S last, Comp comp = {}, Proj proj = {}) {
  return parallel_stable_sort(std::ranges::subrange(std::move(first), std::move(last)),
                              std::move(comp), std::move(proj));
}

}  // namespace weft
