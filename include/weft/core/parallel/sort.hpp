#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include <weft/core/parallel/find.hpp>
#include <weft/core/parallel/for.hpp>
#include <weft/core/parallel/quicksort.hpp>
#include <weft/core/parallel/ranges.hpp>

namespace weft {

// What can be sorted: a range whose elements are objects that can be swapped, and a comparison that
// is a strict weak order.
template <class R, class Comp, class Proj>
concept parallel_sortable =
    parallel_range<R> && detail::elements_can_be_assigned<std::ranges::iterator_t<R>> &&
    std::sortable<std::ranges::iterator_t<R>, Comp, Proj>;

namespace detail {

// Sorted and strictly descending input, found by one pass that random input ends at once. True when
// the range is sorted afterwards.
template <class I, class Less>
bool sort_if_one_run(I first, std::size_t size, Less& less) {
  const auto descends_at = [&](std::size_t i) -> bool {
    return less(element(first, i + 1), element(first, i));
  };
  if (size < 2) return true;
  const bool descending = descends_at(0);
  // By blocks without an early end, which compilers turn into vector instructions.
  constexpr std::size_t block = 64;
  const auto breaks_in = [&](std::size_t b) -> bool {
    const std::size_t end = std::min((b + 1) * block, size - 1);
    bool breaks = false;
    for (std::size_t i = b * block; i < end; ++i) breaks |= descends_at(i) != descending;
    return breaks;
  };
  const std::size_t blocks = (size - 1 + block - 1) / block;
  if (find_first(blocks, {}, breaks_in) != blocks) return false;
  if (descending) {
    parallel_for(std::size_t{0}, size / 2, [&](std::size_t i) {
      std::iter_swap(advanced(first, i), advanced(first, size - 1 - i));
    });
  }
  return true;
}

}  // namespace detail

// Sorts in place; the order of equal elements is not kept.
//
//   weft::parallel_sort(people, {}, &person::name);
//
// Complexity: O(n log n) comparisons, O(n) for input that is sorted or in descending order; no
//   memory. Blocks: until sorted.
// Errors: an exception of comp or proj; the range then holds the same elements in some order.
template <std::ranges::random_access_range R, class Comp = std::ranges::less,
          class Proj = std::identity>
  requires parallel_sortable<R, Comp, Proj>
std::ranges::borrowed_iterator_t<R> parallel_sort(R&& range, Comp comp = {}, Proj proj = {}) {
  const std::size_t size = detail::size_of(range);
  const auto first = detail::fast_iterator(std::ranges::begin(range), size);
  auto less = [&](auto& a, auto& b) -> bool {
    return std::invoke(comp, std::invoke(proj, a), std::invoke(proj, b));
  };
  if (!detail::sort_if_one_run(first, size, less)) {
    detail::quicksort<std::remove_const_t<decltype(first)>, decltype(less)>(less).sort(
        first, detail::advanced(first, size));
  }
  return detail::advanced(std::ranges::begin(range), size);
}

template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
          class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_sortable<std::ranges::subrange<I, S>, Comp, Proj>
I parallel_sort(I first, S last, Comp comp = {}, Proj proj = {}) {
  return parallel_sort(std::ranges::subrange(std::move(first), std::move(last)), std::move(comp),
                       std::move(proj));
}

}  // namespace weft
