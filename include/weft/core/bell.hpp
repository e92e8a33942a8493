#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <weft/base/atomic.hpp>

namespace weft::detail {

// One thread waits for a message, another rings with it. A ring that comes first is not lost.
//
// Threads: one waiter; one ring() per message that was waited for (callers see to that by claiming
// the waiter first). Blocks: wait() in the kernel (futex), without spinning.
// Lifetime: the bell may be destroyed as soon as wait() has returned, even while ring() is still
// on its way out: after its store, ring() uses the address only as a number.
class bell {
 public:
  using message = std::uint32_t;  // 0 is silence

  void ring(message m) noexcept;
  message wait() noexcept;
  // Nothing when the time is up first.
  std::optional<message> wait_until(std::chrono::steady_clock::time_point deadline) noexcept;

 private:
  // Written by the ringer, reset by the waiter. Publishes what the ringer did before.
  atomic<std::uint32_t> word_{0};
};

}  // namespace weft::detail
