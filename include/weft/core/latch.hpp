#pragma once

#include <cstdint>

#include <weft/base/atomic.hpp>

namespace weft::detail {

// Somebody to be told once that a latch is set: a worker, a blocked thread, a continuation.
//
// wake() is called by the thread that sets the latch. The waiter must stay alive until that call
// has given it leave to go; touching the latch afterwards is forbidden, it may be gone.
class waiter {
 public:
  virtual void wake() noexcept = 0;

 protected:
  ~waiter() = default;
};

// One-shot signal with at most one waiter.
//
//   state_          meaning
//   0               not set, nobody waits
//   1               set
//   anything else   not set, the waiter with this address waits
//
// Threads: set() once, from any thread; the rest from the one thread that waits.
// Memory: what happened before set() is visible after is_set() returned true, and inside wake().
// Lifetime: the latch may be destroyed by its waiter as soon as it is set, also during set().
class latch {
 public:
  [[nodiscard]] bool is_set() const noexcept {
    return state_.load(std::memory_order_acquire) == set_state;  // [G] pairs with [S]
  }

  // After this line `*this` may be gone: only the waiter's address is used.
  void set() noexcept {
    // [S] release publishes the work done, acquire shows the waiter that registered with [W].
    const std::uintptr_t old = state_.exchange(set_state, std::memory_order_acq_rel);
    if (old != 0) reinterpret_cast<waiter*>(old)->wake();
  }

  // False when the latch is set already: nobody will call wake().
  [[nodiscard]] bool try_register(waiter& w) noexcept {
    std::uintptr_t none = 0;
    // [W] publishes the waiter; pairs with [S]. On failure acquires what set() published.
    return state_.compare_exchange_strong(none, reinterpret_cast<std::uintptr_t>(&w),
                                          std::memory_order_acq_rel, std::memory_order_acquire);
  }

  // False when set() came first: wake() was or will be called, and must be waited for.
  [[nodiscard]] bool try_unregister(waiter& w) noexcept {
    auto self = reinterpret_cast<std::uintptr_t>(&w);
    return state_.compare_exchange_strong(self, 0, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }

 private:
  static constexpr std::uintptr_t set_state = 1;

  // Written by the setter and by the waiter. Publishes the result of what was waited for.
  atomic<std::uintptr_t> state_{0};
};

}  // namespace weft::detail
