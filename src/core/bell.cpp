#include <weft/core/bell.hpp>

#include <algorithm>

#include "futex.hpp"

namespace weft::detail {

void bell::ring(message m) noexcept {
  atomic<std::uint32_t>& address = word_;
  word_.store(m,
              std::memory_order_release);  // [R] pairs with [W]. The bell may be gone after this.
  futex_wake_one(address);
}

bell::message bell::wait() noexcept {
  message m = 0;
  while ((m = word_.load(std::memory_order_acquire)) == 0) futex_wait(word_, 0, nullptr);  // [W]
  word_.store(0, std::memory_order_relaxed);  // the next ring() is ordered after our next claim
  return m;
}

std::optional<bell::message> bell::wait_until(
    std::chrono::steady_clock::time_point deadline) noexcept {
  // A time before the epoch is as much over as the epoch; the kernel refuses to hear of it.
  const auto since_epoch =
      std::max(deadline.time_since_epoch(), std::chrono::steady_clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  const timespec until{.tv_sec = seconds.count(),
                       .tv_nsec = std::chrono::nanoseconds(since_epoch - seconds).count()};
  message m = 0;
  while ((m = word_.load(std::memory_order_acquire)) == 0) {  // [W]
    if (futex_wait(word_, 0, &until) == futex_result::timed_out) return std::nullopt;
  }
  word_.store(0, std::memory_order_relaxed);
  return m;
}

}  // namespace weft::detail
