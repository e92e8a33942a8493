#include "telemetry/tick_clock.hpp"

#include <cmath>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::telemetry {
namespace {

// Whether the counter runs at one rate in every state of the processor, as it does on those of the
// last fifteen years.
bool has_invariant_cycles() noexcept {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0) return false;
  return (d & (1U << 8U)) != 0;
#else
  return false;
#endif
}

}  // namespace

tick_clock::tick_clock() noexcept : counts_cycles_(has_invariant_cycles()), first_(read()) {}

// The quickest of some tries: a thread may lose its core between the two readings.
tick_clock::reading tick_clock::read() const noexcept {
  reading best;
  auto shortest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = now();
    const auto time = std::chrono::steady_clock::now();
    const std::uint64_t after = now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {.ticks = before + (after - before) / 2, .time = time};
  }
  return best;
}

tick_clock::scale tick_clock::measure() const noexcept {
  constexpr auto enough = std::chrono::milliseconds(2);  // for an error of a hundred-thousandth
  reading last = read();
  while (counts_cycles_ && last.time - first_.time < enough) last = read();
  scale made;
  made.origin_ = first_.ticks;
  made.origin_time_ = first_.time;
  if (counts_cycles_) {
    made.nanoseconds_per_tick_ = std::chrono::duration<double, std::nano>(last.time - first_.time) /
                                 std::chrono::nanoseconds(1) /
                                 static_cast<double>(last.ticks - first_.ticks);
  }
  return made;
}

std::chrono::steady_clock::time_point tick_clock::scale::at(std::uint64_t ticks) const noexcept {
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - origin_));
  return origin_time_ + std::chrono::nanoseconds(std::llround(since * nanoseconds_per_tick_));
}

}  // namespace weft::telemetry
