#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/core/join.hpp>
#include <weft/core/parallel/quicksort.hpp>
#include <weft/core/parallel/ranges.hpp>

namespace weft::detail {

// Memory for as many objects as a range has, beside it. Plain values come into being when they are
// assigned; other objects are made out of those of the range, which are then moved from.
template <class T>
class twin_array {
 public:
  template <class I>
  twin_array(I range, std::size_t size) : size_(size), memory_(std::allocator<T>().allocate(size)) {
    static_assert(is_plain<T> || std::is_nothrow_move_constructible_v<T>);
    if constexpr (!is_plain<T>) {
      std::uninitialized_move_n(range, static_cast<std::ptrdiff_t>(size), memory_);
    }
  }
  ~twin_array() {
    if constexpr (!is_plain<T>) std::destroy_n(memory_, size_);
    std::allocator<T>().deallocate(memory_, size_);
  }
  twin_array(const twin_array&) = delete;
  twin_array& operator=(const twin_array&) = delete;

  T* data() noexcept { return memory_; }

 private:
  std::size_t size_;
  T* memory_;
};

// Stable merge sort between two arrays: the halves at the same time, and large merges in two parts
// at the same time.
//
// Every step ends with all its elements where they are due, also when the comparison throws; then
// their order is any. So a sort loses nothing.
template <class Less>
class merge_sort {
 public:
  static constexpr std::ptrdiff_t worth_a_fork = 2'000;  // some 20 us

  explicit merge_sort(Less& less) noexcept : less_(less) {}

  // Sorts `from` into `to`.
  template <class From, class To>
  void sort_into(From from, std::ptrdiff_t size, To to) {
    if (size <= small) {
      std::move(from, from + size, to);
      return sort_small(to, size);
    }
    const std::ptrdiff_t half = size / 2;
    merge_when_sorted(from, half, size, to, [&](auto sort_both) {
      sort_both([&] { sort_in_place(from, half, to); },
                [&] { sort_in_place(from + half, size - half, to + half); });
    });
  }

  // Sorts `range`, working in `spare`.
  template <class Range, class Spare>
  void sort_in_place(Range range, std::ptrdiff_t size, Spare spare) {
    if (size <= small) return sort_small(range, size);
    const std::ptrdiff_t half = size / 2;
    merge_when_sorted(spare, half, size, range, [&](auto sort_both) {
      sort_both([&] { sort_into(range, half, spare); },
                [&] { sort_into(range + half, size - half, spare + half); });
    });
  }

 private:
  static constexpr std::ptrdiff_t small = 16;  // insertion sort is best up to here
  static constexpr std::ptrdiff_t worth_two_merges = 20'000;

  template <class I>
  void sort_small(I range, std::ptrdiff_t size) {
    if (size > 1) insertion_sort(range, range + 1, range + size, less_);
  }

  // Has the halves of `from` sorted, then merges them.
  template <class From, class To, class SortHalves>
  void merge_when_sorted(From from, std::ptrdiff_t half, std::ptrdiff_t size, To to,
                         SortHalves sort_halves) {
    try {
      sort_halves([&](auto first, auto second) {
        if (size > worth_a_fork) {
          join(first, second);
        } else {
          both(first, second);
        }
      });
    } catch (...) {
      std::move(from, from + size, to);
      throw;
    }
    merge(from, from + half, from + half, from + size, to);
  }

  // What join does, without a fork.
  template <class A, class B>
  static void both(A& a, B& b) {
    try {
      a();
    } catch (...) {
      try {
        b();
      } catch (...) {  // NOLINT(bugprone-empty-catch): the first one counts
      }
      throw;
    }
    b();
  }

  // Merges [a, a_end) and [b, b_end) into `to`; of equal elements those of a come first.
  template <class From, class To>
  void merge(From a, From a_end, From b, From b_end, To to) {
    const auto size = (a_end - a) + (b_end - b);
    if (size <= worth_two_merges) return merge_alone(a, a_end, b, b_end, to);
    From a_cut = a;
    From b_cut = b;
    try {
      cut_in_two(a, a_end, b, b_end, a_cut, b_cut);
    } catch (...) {
      std::move(b, b_end, std::move(a, a_end, to));
      throw;
    }
    join([&] { merge(a, a_cut, b, b_cut, to); },
         [&] { merge(a_cut, a_end, b_cut, b_end, to + ((a_cut - a) + (b_cut - b))); });
  }

  // Nothing before the cuts comes after anything behind them.
  template <class From>
  void cut_in_two(From a, From a_end, From b, From b_end, From& a_cut, From& b_cut) {
    if (a_end - a >= b_end - b) {
      a_cut = a + (a_end - a) / 2;
      b_cut = std::partition_point(b, b_end, [&](auto& x) { return less_(x, *a_cut); });
    } else {
      b_cut = b + (b_end - b) / 2;
      a_cut = std::partition_point(a, a_end, [&](auto& x) { return !less_(*b_cut, x); });
    }
  }

  template <class From, class To>
  void merge_alone(From a, From a_end, From b, From b_end, To to) {
    try {
      if constexpr (is_plain<std::iter_value_t<From>>) {
        merge_from_both_ends(a, a_end, b, b_end, to, to + ((a_end - a) + (b_end - b)));
      }
      while (a != a_end && b != b_end) {
        if (less_(*b, *a)) {
          *to = std::move(*b);
          ++b;
        } else {
          *to = std::move(*a);
          ++a;
        }
        ++to;
      }
    } catch (...) {
      std::move(b, b_end, std::move(a, a_end, to));
      throw;
    }
    std::move(b, b_end, std::move(a, a_end, to));
  }

  // Merges without a branch that depends on the data, the smallest elements and the largest in
  // turn: two chains of dependent loads, which the processor runs at the same time. Stops when one
  // side is nearly used up, and leaves the rest in the middle.
  template <class From, class To>
  void merge_from_both_ends(From& a, From& a_end, From& b, From& b_end, To& to, To to_end) {
    for (;;) {
      // That many steps at each end cannot use a side up, so no step needs to ask.
      const auto steps = std::min(a_end - a, b_end - b) / 2;
      if (steps == 0) return;
      for (auto i = steps; i > 0; --i) {
        const bool b_is_least = less_(*b, *a);
        *to = b_is_least ? *b : *a;
        ++to;
        b += b_is_least;
        a += !b_is_least;
        const bool a_is_greatest = less_(*(b_end - 1), *(a_end - 1));
        --to_end;
        *to_end = a_is_greatest ? *(a_end - 1) : *(b_end - 1);
        a_end -= a_is_greatest;
        b_end -= !a_is_greatest;
      }
    }
  }

  Less& less_;
};

}  // namespace weft::detail
