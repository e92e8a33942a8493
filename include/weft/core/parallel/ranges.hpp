#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace weft {
namespace detail {

// Variables and not concepts: of a variable that is false compilers print the name.
template <class I>
inline constexpr bool elements_are_objects = std::is_lvalue_reference_v<std::iter_reference_t<I>>;
template <class I>
inline constexpr bool elements_can_be_assigned =
    elements_are_objects<I> && !std::is_const_v<std::remove_reference_t<std::iter_reference_t<I>>>;
template <class I>
inline constexpr bool elements_are_no_packed_bits =
    elements_are_objects<I> ||
    std::is_same_v<std::remove_cvref_t<std::iter_reference_t<I>>, std::iter_value_t<I>>;

}  // namespace detail

// Elements that several threads may touch at the same time: objects, or values that are computed.
// The packed bits of std::vector<bool> are neither, since neighbours share a byte.
template <class I>
concept parallel_iterator =
    std::random_access_iterator<I> && detail::elements_are_no_packed_bits<I>;

// What the parallel algorithms work on: any element can be reached at once, and the number of
// elements is known. std::vector, std::array, std::span, std::deque, std::views::iota(0, n), ...
template <class R>
concept parallel_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R> &&
                         parallel_iterator<std::ranges::iterator_t<R>>;

// A place that results are assigned to.
template <class I, class T>
concept parallel_output = std::random_access_iterator<I> && detail::elements_are_objects<I> &&
                          std::indirectly_writable<I, T>;

namespace detail {

// An output given as a range; a plain array is taken as the pointer to its first element.
template <class R>
concept parallel_output_range = parallel_range<R> && !std::is_array_v<std::remove_reference_t<R>>;

// The iterator loops run on: a pointer where the elements lie side by side, which compilers
// understand best.
template <std::random_access_iterator I>
auto fast_iterator(I it, std::size_t size) {
  if constexpr (std::contiguous_iterator<I>) {
    return size == 0 ? nullptr : std::to_address(it);
  } else {
    return it;
  }
}

template <class R>
std::size_t size_of(R&& range) {
  return static_cast<std::size_t>(std::ranges::size(range));
}

// The element at a distance that fits std::size_t.
template <class I>
decltype(auto) element(const I& it, std::size_t index) {
  return it[static_cast<std::iter_difference_t<I>>(index)];
}

// Throws std::invalid_argument when an output range is too short.
inline void require_room(std::size_t needed, std::size_t there, const char* name) {
  if (there >= needed) return;
  throw std::invalid_argument(std::string("weft: ") + name + ": the output has room for " +
                              std::to_string(there) + " elements, and the input has " +
                              std::to_string(needed) + "; make it as long");
}

template <class I>
I advanced(const I& it, std::size_t index) {
  return it + static_cast<std::iter_difference_t<I>>(index);
}

}  // namespace detail
}  // namespace weft
