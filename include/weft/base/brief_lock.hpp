#pragma once

#include <mutex>

namespace weft::detail {

[[nodiscard]] std::unique_lock<std::mutex> wait_for_brief_lock(std::mutex& m) noexcept;

// Locks a mutex under which most often no more is done than to change a few words: that takes some
// ten nanoseconds, and going to sleep for it some thousand. So who finds it taken tries again for
// a while first, some microseconds on x86.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_briefly(std::mutex& m) noexcept {
  if (m.try_lock()) return {m, std::adopt_lock};
  return wait_for_brief_lock(m);
}

}  // namespace weft::detail
