#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <weft/core/parallel/loop.hpp>
#include <weft/core/parallel/options.hpp>
#include <weft/core/parallel/ranges.hpp>

namespace weft {

// out[i] = f(in[i]) for every element of in; returns the end of the output.
//
//   weft::parallel_transform(words, lengths.begin(), [](const std::string& s) { return s.size();
//   });
//
// The output may be the input. It must have room, and must not be a std::vector<bool>.
//
// Complexity: one call and one assignment an element. Blocks, errors and cancellation: as
// parallel_for.
template <parallel_range In, std::random_access_iterator Out, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<In>> &&
           parallel_output<Out, std::invoke_result_t<F&, std::ranges::range_reference_t<In>>>
Out parallel_transform(In&& in, Out out, F&& f, const parallel_options& options = {}) {
  detail::require_callable(f, "parallel_transform");
  const std::size_t size = detail::size_of(in);
  const auto from = detail::fast_iterator(std::ranges::begin(in), size);
  const auto to = detail::fast_iterator(out, size);
  detail::for_chunks(size, options, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      detail::element(to, i) = std::invoke(f, detail::element(from, i));
    }
  });
  return detail::advanced(out, size);
}

// out[i] = f(a[i], b[i]), up to the end of the shorter input.
template <parallel_range A, parallel_range B, std::random_access_iterator Out, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<A>,
                          std::ranges::range_reference_t<B>> &&
           parallel_output<Out, std::invoke_result_t<F&, std::ranges::range_reference_t<A>,
                                                     std::ranges::range_reference_t<B>>>
Out parallel_transform(A&& a, B&& b, Out out, F&& f, const parallel_options& options = {}) {
  detail::require_callable(f, "parallel_transform");
  const std::size_t size = std::min(detail::size_of(a), detail::size_of(b));
  const auto left = detail::fast_iterator(std::ranges::begin(a), size);
  const auto right = detail::fast_iterator(std::ranges::begin(b), size);
  const auto to = detail::fast_iterator(out, size);
  detail::for_chunks(size, options, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      detail::element(to, i) = std::invoke(f, detail::element(left, i), detail::element(right, i));
    }
  });
  return detail::advanced(out, size);
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, std::random_access_iterator Out,
          class F>
  requires std::invocable<F&, std::iter_reference_t<I>> &&
           parallel_output<Out, std::invoke_result_t<F&, std::iter_reference_t<I>>>
Out parallel_transform(I first, S last, Out out, F&& f, const parallel_options& options = {}) {
  return parallel_transform(std::ranges::subrange(std::move(first), std::move(last)),
                            std::move(out), std::forward<F>(f), options);
}

// Into a range, which must be at least as long as the input.
template <parallel_range In, detail::parallel_output_range Out, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<In>> &&
           parallel_output<std::ranges::iterator_t<Out>,
                           std::invoke_result_t<F&, std::ranges::range_reference_t<In>>>
auto parallel_transform(In&& in, Out&& out, F&& f, const parallel_options& options = {}) {
  detail::require_room(detail::size_of(in), detail::size_of(out), "parallel_transform");
  return parallel_transform(in, std::ranges::begin(out), std::forward<F>(f), options);
}

}  // namespace weft
