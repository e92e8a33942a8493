#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/core/join.hpp>
#include <weft/core/parallel/early_exit.hpp>
#include <weft/core/parallel/fold.hpp>
#include <weft/core/parallel/options.hpp>
#include <weft/core/parallel/pace.hpp>
#include <weft/core/parallel/ranges.hpp>

namespace weft {
namespace detail {

enum class scan_kind : bool { inclusive, exclusive };

// Alone it scans like a serial loop. When somebody is idle it goes on by windows: a window is a
// block for every worker, small enough to stay in its cache; the blocks are summed at the same
// time, then, with the sums before them known, scanned at the same time. The second visit finds the
// block in the cache, so a window costs the memory bus no more than a serial scan does.
//
// Windows grow when they are over too soon, because the loop's pace was taken while this thread had
// lost its CPU; and when they take far longer than they might, because a thread with a block has
// lost its CPU and all the others wait: in larger windows that happens less often.
template <scan_kind Kind, class T, class In, class Out, class Op>
class scan {
 public:
  scan(const In& in, const Out& out, Op& op, const std::stop_token& stop) noexcept
      : in_(in), out_(out), op_(op), exit_(stop) {}

  void run(std::size_t size, T so_far, std::size_t grain) {
    pace p(grain);
    std::size_t block_size = 0;
    double fastest = std::numeric_limits<double>::infinity();  // for each element of a window
    for (std::size_t begin = 0; begin < size;) {
      exit_.throw_if_stopped();
      const std::size_t until = p.chunk_end(begin, size);
      so_far = scan_block(begin, until, std::move(so_far));
      const std::size_t done = until - begin;
      begin = until;
      if (begin == size || !p.look_around(done, size - begin)) continue;
      block_size = std::max(block_size, p.chunk_size() * chunks_a_block);
      do {
        exit_.throw_if_stopped();
        const std::size_t window = std::min(size - begin, block_size * workers());
        p.restart();
        so_far = scan_window(begin, begin + window, std::move(so_far));
        begin += window;
        if (!p.is_timed()) continue;
        const double took = p.chunks_since_restart();
        const double each = took / static_cast<double>(window);
        fastest = std::min(fastest, each);
        if (took < chunks_a_block || each > 3 * fastest) block_size *= 2;
      } while (begin < size && work_wanted() != demand::none);
      p.restart();
    }
  }

 private:
  static constexpr std::size_t chunks_a_block = 32;  // about 64 us: much more than a fork
  static constexpr std::size_t most_blocks = 64;

  static std::size_t workers() {
    return std::clamp<std::size_t>(pool::here().workers(), 2, most_blocks);
  }

  // The serial scan. Returns what comes before the next block.
  T scan_block(std::size_t begin, std::size_t end, T so_far) {
    for (std::size_t i = begin; i < end; ++i) {
      if constexpr (Kind == scan_kind::inclusive) {
        so_far = std::invoke(op_, std::move(so_far), element(in_, i));
        element(out_, i) = so_far;
      } else {
        T next = std::invoke(op_, so_far, element(in_, i));  // first: in and out may be the same
        element(out_, i) = std::move(so_far);
        so_far = std::move(next);
      }
    }
    return so_far;
  }

  T scan_window(std::size_t begin, std::size_t end, T so_far) {
    const std::size_t blocks = std::min(workers(), end - begin);
    const auto start = [=](std::size_t block) { return begin + (end - begin) * block / blocks; };
    std::vector<std::optional<T>> before(blocks);
    for_blocks(0, blocks, [&](std::size_t b) {
      before[b].emplace(fold_from_first<T>(in_, start(b), start(b + 1), op_, identity_));
    });
    for (std::size_t b = 0; b < blocks; ++b) {
      T next = std::invoke(op_, so_far, std::move(*before[b]));
      before[b] = std::exchange(so_far, std::move(next));
    }
    for_blocks(0, blocks,
               [&](std::size_t b) { scan_block(start(b), start(b + 1), std::move(*before[b])); });
    return so_far;
  }

  // Forks all the way down, always at the same places: a worker is likely to get the block it had.
  template <class F>
  static void for_blocks(std::size_t begin, std::size_t end, const F& f) {
    if (end - begin == 1) return f(begin);
    const std::size_t middle = begin + (end - begin) / 2;
    join(
        [&] {
          publish_forks();  // whoever takes part is about to look for it, if not at this moment
          for_blocks(begin, middle, f);
        },
        [&] { for_blocks(middle, end, f); });
  }

  const In& in_;
  const Out& out_;
  Op& op_;
  early_exit exit_;
  std::identity identity_;
};

template <scan_kind Kind, class R, class Out, class T, class Op>
Out scan_range(R&& in, Out out, T init, Op& op, const parallel_options& options) {
  const std::size_t size = size_of(in);
  const auto from = fast_iterator(std::ranges::begin(in), size);
  const auto to = fast_iterator(out, size);
  scan<Kind, T, decltype(from), decltype(to), Op>(from, to, op, options.stop)
      .run(size, std::move(init), options.grain);
  return advanced(out, size);
}

}  // namespace detail

// What parallel_inclusive_scan and parallel_exclusive_scan ask of their operation.
template <class Op, class T, class U>
concept scan_op = std::copyable<T> && associative_op<Op, T, U> && std::invocable<Op&, T&, U>;

// out[i] = op(... op(op(init, in[0]), in[1]) ..., in[i]), grouped as it suits; returns the end of
// the output. The type of init is the type that is computed in. The output may be the input.
//
//   weft::parallel_inclusive_scan(in, out.begin(), 0L, std::plus<>{});
//
// Complexity: alone one call of op an element, shared among workers two. Blocks: until done.
// Errors: an exception of op; the output is then written in part. Cancellation: options.stop;
// throws
//   cancelled.
template <parallel_range R, std::random_access_iterator Out, class T, class Op = std::plus<>>
  requires scan_op<Op, T, std::ranges::range_reference_t<R>> && parallel_output<Out, T>
Out parallel_inclusive_scan(R&& in, Out out, T init, Op op = {},
                            const parallel_options& options = {}) {
  return detail::scan_range<detail::scan_kind::inclusive>(in, std::move(out), std::move(init), op,
                                                          options);
}

// As above without the element itself: out[i] = op(... op(init, in[0]) ..., in[i - 1]).
template <parallel_range R, std::random_access_iterator Out, class T, class Op = std::plus<>>
  requires scan_op<Op, T, std::ranges::range_reference_t<R>> && parallel_output<Out, T>
Out parallel_exclusive_scan(R&& in, Out out, T init, Op op = {},
                            const parallel_options& options = {}) {
  return detail::scan_range<detail::scan_kind::exclusive>(in, std::move(out), std::move(init), op,
                                                          options);
}

// Into a range, which must be at least as long as the input.
template <parallel_range R, detail::parallel_output_range Out, class T, class Op = std::plus<>>
  requires scan_op<Op, T, std::ranges::range_reference_t<R>> &&
           parallel_output<std::ranges::iterator_t<Out>, T>
auto parallel_inclusive_scan(R&& in, Out&& out, T init, Op op = {},
                             const parallel_options& options = {}) {
  detail::require_room(detail::size_of(in), detail::size_of(out), "parallel_inclusive_scan");
  return parallel_inclusive_scan(in, std::ranges::begin(out), std::move(init), std::move(op),
                                 options);
}
template <parallel_range R, detail::parallel_output_range Out, class T, class Op = std::plus<>>
  requires scan_op<Op, T, std::ranges::range_reference_t<R>> &&
           parallel_output<std::ranges::iterator_t<Out>, T>
auto parallel_exclusive_scan(R&& in, Out&& out, T init, Op op = {},
                             const parallel_options& options = {}) {
  detail::require_room(detail::size_of(in), detail::size_of(out), "parallel_exclusive_scan");
  return parallel_exclusive_scan(in, std::ranges::begin(out), std::move(init), std::move(op),
                                 options);
}

// Between iterators.
template <parallel_iterator I, std::sized_sentinel_for<I> S, std::random_access_iterator Out,
          class T, class Op = std::plus<>>
  requires scan_op<Op, T, std::iter_reference_t<I>> && parallel_output<Out, T>
Out parallel_inclusive_scan(I first, S last, Out out, T init, Op op = {},
                            const parallel_options& options = {}) {
  return parallel_inclusive_scan(std::ranges::subrange(std::move(first), std::move(last)),
                                 std::move(out), std::move(init), std::move(op), options);
}
template <parallel_iterator I, std::sized_sentinel_for<I> S, std::random_access_iterator Out,
          class T, class Op = std::plus<>>
  requires scan_op<Op, T, std::iter_reference_t<I>> && parallel_output<Out, T>
Out parallel_exclusive_scan(I first, S last, Out out, T init, Op op = {},
                            const parallel_options& options = {}) {
  return parallel_exclusive_scan(std::ranges::subrange(std::move(first), std::move(last)),
                                 std::move(out), std::move(init), std::move(op), options);
}

}  // namespace weft
