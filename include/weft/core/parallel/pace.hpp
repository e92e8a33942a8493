#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <weft/core/fork_context.hpp>

namespace weft::detail {

// Time in units of about a third of a nanosecond. Read often, so it is the cheapest clock there is;
// how long a unit is matters little, because everything it decides is a matter of magnitude.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now / std::chrono::nanoseconds(1)) * 3;
#endif
}

// Finds out how many iterations of a loop to run between two looks around, and when the rest is
// worth sharing. The first iteration is run alone, then 64 times as many each time, until a chunk
// takes long enough to be timed; from then on a chunk takes about two microseconds. So a cheap loop
// is left before anybody is disturbed, and a loop over ten expensive elements is shared after the
// first.
//
// Threads: one. A worker that takes half of a loop takes a copy.
class pace {
 public:
  // With a grain chunks have that size, and two are worth sharing.
  explicit pace(std::size_t grain) noexcept
      : fixed_(grain != 0 || work_wanted() == demand::scripted),
        chunk_(grain != 0 ? grain : 1),
        begin_(fixed_ ? 0 : ticks()) {}

  // The number of iterations to run next, out of those left.
  [[nodiscard]] std::size_t chunk(std::size_t left) const noexcept {
    return std::min(chunk_, left);
  }

  // A chunk was run. True when the rest should be shared now.
  [[nodiscard]] bool look_around(std::size_t done, std::size_t left) noexcept {
    if (fixed_) return left >= 2 * chunk_ && work_wanted() != demand::none;
    const std::uint64_t now = ticks();
    const std::uint64_t elapsed = now - begin_;
    begin_ = now;
    if (elapsed < measurable) {
      chunk_ = done * growth;
      return false;
    }
    const double each = static_cast<double>(elapsed) / static_cast<double>(done);
    chunk_ =
        static_cast<std::size_t>(std::clamp(aim / each, 1.0, static_cast<double>(done * growth)));
    return is_worth_sharing(each * static_cast<double>(left), left);
  }

  // A half was taken over by this thread, or a join has passed: time starts again.
  void restart() noexcept {
    if (!fixed_) begin_ = ticks();
  }

 private:
  static constexpr std::uint64_t measurable = 500;  // ticks: shorter chunks are mostly clock
  static constexpr double aim = 6'000;              // 2 us
  static constexpr double worth_handing_over = 6'000;
  static constexpr double worth_waking_for = 150'000;  // 50 us, twice what waking takes
  static constexpr std::size_t growth = 64;

  static bool is_worth_sharing(double cost_left, std::size_t left) noexcept {
    if (cost_left < worth_handing_over || left < 2) return false;
    switch (work_wanted()) {
      case demand::none:
        return false;
      case demand::asleep:
        return cost_left >= worth_waking_for;
      case demand::searching:
      case demand::scripted:
        return true;
    }
    return false;
  }

  bool fixed_;
  std::size_t chunk_;
  std::uint64_t begin_;
};

}  // namespace weft::detail
