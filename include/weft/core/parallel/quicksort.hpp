#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <weft/core/join.hpp>

namespace weft::detail {

// Values that are copied as freely as numbers are.
template <class T>
inline constexpr bool is_plain = std::is_trivially_copyable_v<T> && std::copyable<T>;

// Holds a value out of a range, and the place it left; puts it back when the scope is left, also by
// an exception of the comparison: a sort loses nothing.
template <class I>
struct lifted {
  explicit lifted(I from) : place(from), value(std::move(*from)) {}
  lifted(const lifted&) = delete;
  lifted& operator=(const lifted&) = delete;
  ~lifted() noexcept(std::is_nothrow_move_assignable_v<std::iter_value_t<I>>) {
    *place = std::move(value);
  }
  I place;
  std::iter_value_t<I> value;
};

// Sorts [first, last), of which [first, sorted) is sorted already.
template <class I, class Less>
void insertion_sort(I first, I sorted, I last, Less& less) {
  for (I i = sorted; i < last; ++i) {
    if (!less(*i, *(i - 1))) continue;
    lifted<I> x(i);
    do {
      *x.place = std::move(*(x.place - 1));
      --x.place;
    } while (x.place != first && less(x.value, *(x.place - 1)));
  }
}

// Moves the elements for which goes_left holds before the others; returns the border.
//
// Small plain values: no branch depends on the data, which is worth a factor of five on random
// input (a mispredicted branch costs as much as twenty moves). One value is held aside, its place
// is the gap; each step moves the first right-hand element into the gap and the element looked at
// into the freed place, whether it belongs there or not.
template <class I, class Pred>
  requires(is_plain<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= 32)
I partition(I first, I last, Pred goes_left) {
  if (first == last) return first;
  I border = first;
  lifted<I> held(first);
  I gap = first;
  try {
    for (I i = first + 1; i < last; ++i) {
      const bool left = goes_left(*i);
      *gap = *border;
      *border = *i;
      gap = i;
      border += left;
    }
    const bool left = goes_left(held.value);
    *gap = *border;
    gap = border;
    border += left;
  } catch (...) {
    held.place = gap;
    throw;
  }
  held.place = gap;
  return border;
}

// Everything else: two indices that meet, and swaps. They meet also when goes_left says now this,
// now that.
template <class I, class Pred>
I partition(I first, I last, Pred goes_left) {
  for (;;) {
    while (first < last && goes_left(*first)) ++first;
    if (first == last) return first;
    do {
      --last;
    } while (first < last && !goes_left(*last));
    if (first == last) return first;
    std::iter_swap(first, last);
    ++first;
  }
}

// Quicksort with three guards: runs of equal elements are split off once, unbalanced input is
// stirred, and after too many bad splits heapsort takes over, so that n log n holds for every
// input. Both sides of a split may run at the same time.
template <class I, class Less>
class quicksort {
 public:
  explicit quicksort(Less& less) noexcept : less_(less) {}

  void sort(I first, I last) {
    const auto size = last - first;
    if (size > worth_sharing) {
      sort_shared(first, last, bad_splits_allowed(size), /*leftmost=*/true);
    } else {
      sort_alone(first, last, bad_splits_allowed(size), /*leftmost=*/true);
    }
  }

 private:
  using distance = std::iter_difference_t<I>;
  using value = std::iter_value_t<I>;

  static constexpr distance small = 20;             // insertion sort is best up to here
  static constexpr distance worth_a_fork = 1'500;   // some 20 us
  static constexpr distance worth_sharing = 6'000;  // 100 us: below, waking somebody costs more

  static int bad_splits_allowed(distance size) noexcept {
    return static_cast<int>(std::bit_width(static_cast<std::size_t>(size)));
  }

  struct split {
    I first, last;  // what is between is in place
  };

  void sort_shared(I first, I last, int allowed, bool leftmost) {
    while (last - first > worth_a_fork) {
      if (allowed == 0) return heapsort(first, last);
      const split s = split_up(first, last, allowed, leftmost);
      if (s.first == first) {  // nothing on the left
        first = s.last;
        leftmost = false;
        continue;
      }
      join([&] { sort_shared(first, s.first, allowed, leftmost); },
           [&] { sort_shared(s.last, last, allowed, false); });
      return;
    }
    sort_alone(first, last, allowed, leftmost);
  }

  void sort_alone(I first, I last, int allowed, bool leftmost) {
    while (last - first > small) {
      if (allowed == 0) return heapsort(first, last);
      const split s = split_up(first, last, allowed, leftmost);
      if (s.first - first < last - s.last) {
        sort_alone(first, s.first, allowed, leftmost);
        first = s.last;
        leftmost = false;
      } else {
        sort_alone(s.last, last, allowed, false);
        last = s.first;
      }
    }
    if (first != last) insertion_sort(first, first + 1, last, less_);
  }

  // Counts down `allowed` when the split is a bad one. Unless leftmost, the element before `first`
  // is not greater than any in the range.
  split split_up(I first, I last, int& allowed, bool leftmost) {
    std::iter_swap(first, choose_pivot(first, last));
    const I rest = first + 1;
    // An equal element before the range: those equal to the pivot are in place, on the left.
    if (!leftmost && !less_(*(first - 1), *first)) {
      return {first, partition_by(first, rest, last,
                                  [this](value& x, value& pivot) { return !less_(pivot, x); })};
    }
    const I border =
        partition_by(first, rest, last, [this](value& x, value& pivot) { return less_(x, pivot); });
    const I middle = border - 1;
    std::iter_swap(first, middle);
    const distance size = last - first;
    if (std::min(middle - first, last - border) < size / 8) {
      --allowed;
      stir(first, middle);
      stir(border, last);
    }
    return {middle, border};
  }

  // The pivot lies at `pivot`, outside the range. A plain one is copied, so that it stays in a
  // register.
  template <class Goes>
  static I partition_by(I pivot, I first, I last, Goes goes) {
    if constexpr (is_plain<value> && sizeof(value) <= 32) {
      value p = *pivot;
      return detail::partition(first, last, [&](value& x) { return goes(x, p); });
    } else {
      return detail::partition(first, last, [&](value& x) { return goes(x, *pivot); });
    }
  }

  I median(I a, I b, I c) {
    if (less_(*b, *a)) std::swap(a, b);
    if (!less_(*c, *b)) return b;
    return less_(*c, *a) ? a : c;
  }

  I choose_pivot(I first, I last) {
    const distance eighth = (last - first) / 8;
    const I a = first + eighth;
    const I b = first + 4 * eighth;
    const I c = first + 7 * eighth;
    if (last - first < 128) return median(a, b, c);
    return median(median(a, a + 1, a + 2), median(b, b + 1, b + 2), median(c, c + 1, c + 2));
  }

  // Moves some elements from where the next pivots would be looked for.
  static void stir(I first, I last) {
    const distance size = last - first;
    if (size < small) return;
    const distance quarter = size / 4;
    std::iter_swap(first, first + quarter);
    std::iter_swap(last - 1, last - quarter);
    if (size < 128) return;
    std::iter_swap(first + 1, first + (quarter + 1));
    std::iter_swap(first + 2, first + (quarter + 2));
    std::iter_swap(last - 2, last - (quarter + 1));
    std::iter_swap(last - 3, last - (quarter + 2));
  }

  void heapsort(I first, I last) {
    const distance size = last - first;
    for (distance i = size / 2; i-- > 0;) sift_down(first, i, size);
    for (distance end = size; end-- > 1;) {
      std::iter_swap(first, first + end);
      sift_down(first, 0, end);
    }
  }
  void sift_down(I first, distance hole, distance size) {
    for (distance child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && less_(first[child], first[child + 1])) ++child;
      if (!less_(first[hole], first[child])) return;
      std::iter_swap(first + hole, first + child);
      hole = child;
    }
  }

  Less& less_;
};

}  // namespace weft::detail
