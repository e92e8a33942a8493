#include "futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>

namespace weft::detail {

// std::atomic::wait is not used: it spins before it sleeps, and has no deadline.
futex_result futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                        const timespec* deadline) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  const long r = ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline, nullptr,
                           FUTEX_BITSET_MATCH_ANY);
  return r != 0 && errno == ETIMEDOUT ? futex_result::timed_out : futex_result::woken_or_changed;
}

void futex_wake_one(atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace weft::detail
