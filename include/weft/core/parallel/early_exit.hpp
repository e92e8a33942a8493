#pragma once

#include <cstddef>
#include <stop_token>

#include <weft/base/atomic.hpp>
#include <weft/core/errors.hpp>

namespace weft::detail {

// Where a loop ends before its end: at the lowest position that threw. What comes after it need not
// run any more; what comes before it must, for it might throw too, and then that would be the
// exception a serial loop meets.
//
// Threads: any.
class early_exit {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  explicit early_exit(const std::stop_token& stop) noexcept : stop_(stop) {}

  // The loop ends at `position` or before.
  void leave_at(std::size_t position) noexcept {
    // relaxed: a hint. What happened there travels with the exception, through the join.
    std::size_t lowest = lowest_.load(std::memory_order_relaxed);
    while (position < lowest &&
           !lowest_.compare_exchange_weak(lowest, position, std::memory_order_relaxed)) {
    }
  }

  // Whether iterations from `position` on are not needed.
  [[nodiscard]] bool has_left_before(std::size_t position) const noexcept {
    return lowest_.load(std::memory_order_relaxed) < position;
  }

  // The lowest position left at, or nowhere.
  [[nodiscard]] std::size_t position() const noexcept {
    return lowest_.load(std::memory_order_relaxed);
  }

  // Throws cancelled when asked to stop.
  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw cancelled();
  }

 private:
  atomic<std::size_t> lowest_{nowhere};
  const std::stop_token& stop_;
};

// Gives out a range in pieces, from the front.
class shared_counter {
 public:
  // The beginning of a piece of `count`, which nobody else gets.
  std::size_t take(std::size_t count) noexcept {
    return next_.fetch_add(count, std::memory_order_relaxed);  // says who, publishes nothing
  }

 private:
  atomic<std::size_t> next_{0};
};

}  // namespace weft::detail
