#include <weft/base/brief_lock.hpp>

namespace weft::detail {
namespace {

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// Who tries takes the cache line from the one who works in it, so it tries less and less often.
std::unique_lock<std::mutex> wait_for_brief_lock(std::mutex& m) noexcept {
  constexpr int longest = 64;
  for (int pauses = 1; pauses <= longest; pauses *= 2) {
    for (int i = 0; i < pauses; ++i) relax();
    if (m.try_lock()) return {m, std::adopt_lock};
  }
  return std::unique_lock(m);
}

}  // namespace weft::detail
