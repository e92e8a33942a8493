#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/core/join.hpp>
#include <weft/core/parallel/early_exit.hpp>
#include <weft/core/parallel/fold.hpp>
#include <weft/core/parallel/pace.hpp>
#include <weft/core/parallel/ranges.hpp>

namespace weft {

struct reduce_options {
  // As in parallel_options.
  std::size_t grain = 0;
  std::stop_token stop = {};
  // Groups the elements by their number (and the grain) alone: floating-point sums come out the
  // same, bit for bit, whatever the number of workers. Otherwise the grouping follows who was idle.
  // There are 128 pieces unless a grain is given, and a stop request is seen between two.
  bool reproducible = false;
};

namespace detail {

template <class T, class I, class Op, class Proj>
class reduction {
 public:
  reduction(const I& first, Op& op, Proj& proj, const std::stop_token& stop) noexcept
      : first_(first), op_(op), proj_(proj), exit_(stop) {}

  // Splits when somebody is idle.
  T lazily(T so_far, std::size_t begin, std::size_t end, pace p) {
    while (begin < end) {
      if (exit_.has_left_before(begin)) return so_far;  // nobody will look at it
      const std::size_t until = p.chunk_end(begin, end);
      so_far =
          guarded(begin, [&] { return fold(std::move(so_far), first_, begin, until, op_, proj_); });
      const std::size_t done = until - begin;
      begin = until;
      if (begin < end && p.look_around(done, end - begin)) break;
    }
    if (begin == end) return so_far;
    const std::size_t middle = pace::middle(begin, end);
    p.restart();
    auto [left, right] = join([&] { return lazily(std::move(so_far), begin, middle, p); },
                              [&, p]() mutable {
                                p.restart();
                                T start = guarded(middle, [&]() -> T {
                                  return std::invoke(proj_, element(first_, middle));
                                });
                                return lazily(std::move(start), middle + 1, end, p);
                              });
    return std::invoke(op_, std::move(left), std::move(right));
  }

  // Splits at the same places every time. The range is not empty.
  T reproducibly(std::size_t begin, std::size_t end, std::size_t leaf) {
    if (end - begin <= leaf) {
      return guarded(begin, [&] { return fold_from_first<T>(first_, begin, end, op_, proj_); });
    }
    const std::size_t middle = begin + (end - begin) / 2;
    auto [left, right] = join([&] { return reproducibly(begin, middle, leaf); },
                              [&] { return reproducibly(middle, end, leaf); });
    return std::invoke(op_, std::move(left), std::move(right));
  }

 private:
  template <class F>
  T guarded(std::size_t position, F&& f) {
    try {
      exit_.throw_if_stopped();
      return f();
    } catch (...) {
      exit_.leave_at(position);
      throw;
    }
  }

  const I& first_;
  Op& op_;
  Proj& proj_;
  early_exit exit_;
};

}  // namespace detail

// op(... op(op(init, proj(x0)), proj(x1)) ...), grouped as it suits.
//
//   auto sum = weft::parallel_reduce(xs, 0L, std::plus<>{}, [](auto& x) { return x.cost; });
//
// The type of init is the type of the result. op must be associative; it need not commute: the
// elements stay in order. init is used once.
//
// Complexity: one call of op and proj an element, and one of op a piece. Blocks: until done.
// Errors: of the pieces that threw, the exception of the first one. Cancellation: options.stop;
//   throws cancelled.
template <parallel_range R, class T, class Op = std::plus<>, class Proj = std::identity>
  requires std::invocable<Proj&, std::ranges::range_reference_t<R>> &&
           associative_op<Op, T, std::invoke_result_t<Proj&, std::ranges::range_reference_t<R>>>
T parallel_reduce(R&& range, T init, Op op = {}, Proj proj = {},
                  const reduce_options& options = {}) {
  const std::size_t size = detail::size_of(range);
  if (size == 0) return init;
  const auto first = detail::fast_iterator(std::ranges::begin(range), size);
  detail::reduction<T, std::remove_const_t<decltype(first)>, Op, Proj> r(first, op, proj,
                                                                         options.stop);
  if (options.reproducible) {
    constexpr std::size_t pieces = 128;  // for balance; few enough to cost nothing
    const std::size_t leaf =
        options.grain != 0 ? options.grain : std::max<std::size_t>(1, size / pieces);
    return std::invoke(op, std::move(init), r.reproducibly(0, size, leaf));
  }
  return r.lazily(std::move(init), 0, size, detail::pace(options.grain));
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, class T, class Op = std::plus<>,
          class Proj = std::identity>
  requires std::invocable<Proj&, std::iter_reference_t<I>> &&
           associative_op<Op, T, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>
T parallel_reduce(I first, S last, T init, Op op = {}, Proj proj = {},
                  const reduce_options& options = {}) {
  return parallel_reduce(std::ranges::subrange(std::move(first), std::move(last)), std::move(init),
                         std::move(op), std::move(proj), options);
}

}  // namespace weft
