#pragma once

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

// The body of a loop over numbers: callable with one of them, or with the first and the last of a
// block. One callable is shared by all threads that take part.
template <class F, class I>
concept index_body = std::invocable<F&, I>;
template <class F, class I>
concept block_body = std::invocable<F&, I, I>;

namespace detail {
// A variable, so that compilers print its name when a body fits neither.
template <class F, class I>
inline constexpr bool body_takes_an_index_or_first_and_last = index_body<F, I> || block_body<F, I>;
}  // namespace detail

template <class F, class I>
concept loop_body = detail::body_takes_an_index_or_first_and_last<F, I>;

// for (i = first; i < last; ++i) body(i), with the iterations shared out among idle workers.
//
//   weft::parallel_for(0, n, [&](std::size_t i) { y[i] = f(x[i]); });
//   weft::parallel_for(0, n, [&](std::size_t first, std::size_t last) { ... });   // whole blocks
//
// The calling thread takes part. Outside a pool it runs on pool::global(), inside one on that; use
// pool::run to choose. While no worker is idle it costs what the serial loop costs.
//
// Complexity: last - first calls. Blocks: until every iteration is done.
// Errors: the exception that the serial loop would have met first; iterations after it that have
//   not begun are left out.
// Cancellation: options.stop; throws cancelled unless every iteration was done.
template <std::integral A, std::integral B, class F>
  requires loop_body<F, std::common_type_t<A, B>>
void parallel_for(A first, B last, F&& body, const parallel_options& options = {}) {
  using index = std::common_type_t<A, B>;
  detail::require_callable(body, "parallel_for");
  if (static_cast<index>(first) >= static_cast<index>(last)) return;
  // In unsigned arithmetic: the distance may be larger than what `index` holds.
  using distance = std::make_unsigned_t<index>;
  const auto from = static_cast<distance>(first);
  const auto size =
      static_cast<std::size_t>(static_cast<distance>(static_cast<distance>(last) - from));
  detail::for_chunks(size, options, [&](std::size_t begin, std::size_t end) {
    const auto at = [from](std::size_t offset) {
      return static_cast<index>(static_cast<distance>(from + static_cast<distance>(offset)));
    };
    if constexpr (index_body<F, index>) {
      for (std::size_t i = begin; i < end; ++i) std::invoke(body, at(i));
    } else {
      std::invoke(body, at(begin), at(end));
    }
  });
}

// body(x) for every element.
//
//   weft::parallel_for_each(particles, [&](particle& p) { p.move(dt); });
//
// All else as with parallel_for.
template <parallel_range R, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<R>>
void parallel_for_each(R&& range, F&& body, const parallel_options& options = {}) {
  detail::require_callable(body, "parallel_for_each");
  const std::size_t size = detail::size_of(range);
  const auto first = detail::fast_iterator(std::ranges::begin(range), size);
  detail::for_chunks(size, options, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) std::invoke(body, detail::element(first, i));
  });
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, class F>
  requires std::invocable<F&, std::iter_reference_t<I>>
void parallel_for_each(I first, S last, F&& body, const parallel_options& options = {}) {
  parallel_for_each(std::ranges::subrange(std::move(first), std::move(last)), std::forward<F>(body),
                    options);
}

}  // namespace weft
