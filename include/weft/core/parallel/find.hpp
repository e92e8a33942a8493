#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <ranges>
#include <utility>

#include <weft/core/join.hpp>
#include <weft/core/parallel/early_exit.hpp>
#include <weft/core/parallel/options.hpp>
#include <weft/core/parallel/pace.hpp>
#include <weft/core/parallel/ranges.hpp>

namespace weft {
namespace detail {

// A search for the first position at which something holds. Whoever takes part takes the next piece
// from the front, so that all search near the place where a serial search would be.
template <class Matches>
class search {
 public:
  search(std::size_t size, Matches& matches, const std::stop_token& stop) noexcept
      : size_(size), matches_(matches), exit_(stop) {}

  // The first match, or `size`. The calling thread and whoever is idle take part.
  std::size_t run(std::size_t grain) {
    // Longer pieces than a loop's: each one starts at a place the memory system did not expect.
    take_part(pace(grain, 4 * pace::two_microseconds));
    if (error_ && !exit_.has_left_before(error_position_)) std::rethrow_exception(error_);
    return std::min(exit_.position(), size_);
  }

 private:
  // Takes pieces until there is none; forks one helper, who may fork the next.
  void take_part(pace p, bool may_fork = true) noexcept {
    for (std::size_t last = 0;;) {
      const std::size_t wanted = p.chunk_end(last, size_) - last;
      const std::size_t begin = next_.take(wanted);
      if (begin >= size_ || exit_.has_left_before(begin)) return;
      const std::size_t end = begin + std::min(wanted, size_ - begin);
      search_chunk(begin, end);
      if (end == size_ || exit_.has_left_before(end)) return;
      last = end;
      if (!p.look_around(end - begin, size_ - end) || !may_fork) continue;
      if (fork_helper(p)) return;
      may_fork = false;  // outside any pool, and there is none to be had: go on alone
    }
  }

  bool fork_helper(pace p) noexcept {
    p.restart();
    auto helper = [this, p]() mutable {
      // Begun by a worker that waits inside the predicate of this very search: it would search to
      // the end before that predicate could say yes.
      for (const visit* v = innermost(); v != nullptr; v = v->outer) {
        if (v->of == this) return;
      }
      p.restart();
      take_part(p);
    };
    auto self = [this, p] { take_part(p, /*may_fork=*/false); };
    try {
      fork_and_join(self, helper);
    } catch (...) {
      return false;
    }
    return true;
  }

  // The searches whose predicates this thread is in.
  struct visit {
    const search* of;
    visit* outer;
  };
  static visit*& innermost() noexcept { return per_thread<search, visit*>(); }

  void search_chunk(std::size_t begin, std::size_t end) noexcept {
    visit here{.of = this, .outer = innermost()};
    innermost() = &here;
    try {
      exit_.throw_if_stopped();
#pragma GCC unroll 8
      for (std::size_t i = begin; i < end; ++i) {
        if (!matches_(i)) continue;
        exit_.leave_at(i);
        break;
      }
    } catch (...) {
      note_error(begin);
    }
    innermost() = here.outer;
  }

  // Pieces do not overlap, so the beginning of one says enough about what came first.
  void note_error(std::size_t position) noexcept {
    exit_.leave_at(position);
    const std::lock_guard lock(error_mutex_);
    if (error_ && error_position_ <= position) return;
    error_ = std::current_exception();
    error_position_ = position;
  }

  const std::size_t size_;
  Matches& matches_;
  early_exit exit_;
  shared_counter next_;
  std::mutex error_mutex_;
  std::exception_ptr error_;  // guarded by error_mutex_
  std::size_t error_position_ = 0;
};

template <class Matches>
std::size_t find_first(std::size_t size, const parallel_options& options, Matches&& matches) {
  if (size == 0) return 0;
  return search<Matches>(size, matches, options.stop).run(options.grain);
}

}  // namespace detail

// The first element for which pred holds, or the end: what std::ranges::find_if returns.
//
//   auto it = weft::parallel_find_if(xs, [](int x) { return x > 100; });
//
// Elements after the match may have been looked at; all before it were.
//
// Complexity: at most one call of pred an element; when there is a match, those before it, and a
// few microseconds' worth after it. Blocks: until found. Errors: of match and exception, what the
// serial search would have met first. Cancellation: options.stop; throws cancelled.
template <parallel_range R, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<std::ranges::iterator_t<R>, Proj>>
std::ranges::borrowed_iterator_t<R> parallel_find_if(R&& range, Pred pred, Proj proj = {},
                                                     const parallel_options& options = {}) {
  const std::size_t size = detail::size_of(range);
  const auto first = detail::fast_iterator(std::ranges::begin(range), size);
  const std::size_t found = detail::find_first(size, options, [&](std::size_t i) -> bool {
    return std::invoke(pred, std::invoke(proj, detail::element(first, i)));
  });
  return detail::advanced(std::ranges::begin(range), found);
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<I, Proj>>
I parallel_find_if(I first, S last, Pred pred, Proj proj = {},
                   const parallel_options& options = {}) {
  return parallel_find_if(std::ranges::subrange(std::move(first), std::move(last)), std::move(pred),
                          std::move(proj), options);
}

// Whether pred holds for at least one element, for every element, for none. All else as with
// parallel_find_if.
template <parallel_range R, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<std::ranges::iterator_t<R>, Proj>>
bool parallel_any_of(R&& range, Pred pred, Proj proj = {}, const parallel_options& options = {}) {
  return parallel_find_if(range, std::ref(pred), std::ref(proj), options) !=
         std::ranges::end(range);
}

template <parallel_range R, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<std::ranges::iterator_t<R>, Proj>>
bool parallel_all_of(R&& range, Pred pred, Proj proj = {}, const parallel_options& options = {}) {
  return !parallel_any_of(range, std::not_fn(std::ref(pred)), std::ref(proj), options);
}

template <parallel_range R, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<std::ranges::iterator_t<R>, Proj>>
bool parallel_none_of(R&& range, Pred pred, Proj proj = {}, const parallel_options& options = {}) {
  return !parallel_any_of(range, std::ref(pred), std::ref(proj), options);
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<I, Proj>>
bool parallel_any_of(I first, S last, Pred pred, Proj proj = {},
                     const parallel_options& options = {}) {
  return parallel_any_of(std::ranges::subrange(std::move(first), std::move(last)), std::move(pred),
                         std::move(proj), options);
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<I, Proj>>
bool parallel_all_of(I first, S last, Pred pred, Proj proj = {},
                     const parallel_options& options = {}) {
  return parallel_all_of(std::ranges::subrange(std::move(first), std::move(last)), std::move(pred),
                         std::move(proj), options);
}

template <parallel_iterator I, std::sized_sentinel_for<I> S, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<Pred, std::projected<I, Proj>>
bool parallel_none_of(I first, S last, Pred pred, Proj proj = {},
                      const parallel_options& options = {}) {
  return parallel_none_of(std::ranges::subrange(std::move(first), std::move(last)), std::move(pred),
                          std::move(proj), options);
}

}  // namespace weft
