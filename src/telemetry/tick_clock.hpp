#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace weft::telemetry {

// The quickest clock of the machine that all cores agree on. Its unit is known only afterwards: two
// readings of it and of the system's clock, some time apart, give the rate.
class tick_clock {
 public:
  // The calibration begins.
  tick_clock() noexcept;

  [[nodiscard]] std::uint64_t now() const noexcept {
#if defined(__x86_64__)
    if (counts_cycles_) return __rdtsc();
#endif
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  // From ticks to the steady clock, by all the time since it was made.
  class scale {
   public:
    [[nodiscard]] std::chrono::steady_clock::time_point at(std::uint64_t ticks) const noexcept;

   private:
    friend class tick_clock;
    std::uint64_t origin_ = 0;
    std::chrono::steady_clock::time_point origin_time_;
    double nanoseconds_per_tick_ = 1;
  };
  // Busy for some time where it was made a moment ago, so that the rate is right.
  [[nodiscard]] scale measure() const noexcept;

 private:
  struct reading {
    std::uint64_t ticks = 0;
    std::chrono::steady_clock::time_point time;
  };
  [[nodiscard]] reading read() const noexcept;

  bool counts_cycles_ = false;
  reading first_;
};

}  // namespace weft::telemetry
