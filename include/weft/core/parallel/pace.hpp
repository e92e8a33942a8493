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
// worth sharing. The first iteration is run alone, then more and more, until a chunk takes long
// enough to be timed; from then on a chunk takes about two microseconds. So a cheap loop is through
// before anybody is disturbed, and a loop over ten expensive elements is shared after the first.
//
// Threads: one. A worker that takes half of a loop takes a copy.
class pace {
 public:
  static constexpr double two_microseconds = 6'000;

  // With a grain chunks have that size, and two are worth sharing. Without, they take `aim` ticks.
  explicit pace(std::size_t grain, double aim = two_microseconds) noexcept
      : fixed_(grain != 0 || current_context->is_scripted()),
        chunk_(grain != 0 ? grain : 1),
        small_rest_(fixed_ ? 0 : 64),
        aim_(aim),
        begin_(fixed_ ? 0 : ticks()) {}

  // Where the chunk that begins at `begin` should end. A small rest is run with it. Large chunks
  // end at multiples of 64, so that vector instructions find the next one aligned as they would in
  // a serial loop.
  [[nodiscard]] std::size_t chunk_end(std::size_t begin, std::size_t end) const noexcept {
    if (end - begin <= chunk_ + std::min(chunk_, small_rest_)) return end;
    return aligned(begin, begin + chunk_);
  }
  // Where to cut [begin, end) in two.
  [[nodiscard]] static std::size_t middle(std::size_t begin, std::size_t end) noexcept {
    return aligned(begin, begin + (end - begin) / 2);
  }
  [[nodiscard]] std::size_t chunk_size() const noexcept { return chunk_; }

  // A chunk was run. True when the rest should be shared now.
  [[nodiscard]] bool look_around(std::size_t done, std::size_t left) noexcept {
    if (fixed_) return left >= 2 * chunk_ && work_wanted() != demand::none;
    const std::uint64_t now = ticks();
    const std::uint64_t elapsed = now - begin_;
    begin_ = now;
    if (elapsed < measurable) {
      chunk_ = std::min(done, ~std::size_t{0} / 1024) * (elapsed < hardly_anything ? 1024 : 8);
      return false;
    }
    const double each = static_cast<double>(elapsed) / static_cast<double>(done);
    chunk_ = static_cast<std::size_t>(std::clamp(aim_ / each, 1.0, static_cast<double>(done) * 64));
    return is_worth_sharing(each * static_cast<double>(left), left);
  }

  // A half was taken over by this thread, or a join has passed: time starts again.
  void restart() noexcept {
    if (is_timed()) begin_ = ticks();
  }
  // Not with a grain, and not where the same must happen every time.
  [[nodiscard]] bool is_timed() const noexcept { return !fixed_; }
  // The time since then, measured in chunks.
  [[nodiscard]] double chunks_since_restart() const noexcept {
    return static_cast<double>(ticks() - begin_) / aim_;
  }

 private:
  // In ticks.
  static constexpr std::uint64_t measurable = 200;      // shorter chunks are mostly clock
  static constexpr std::uint64_t hardly_anything = 80;  // little more than reading the clock takes
  static constexpr double worth_handing_over = two_microseconds;
  static constexpr double worth_waking_for = 150'000;  // 50 us, twice what waking takes

  static constexpr std::size_t alignment = 64;
  static std::size_t aligned(std::size_t begin, std::size_t end) noexcept {
    return end - begin < alignment ? end : end / alignment * alignment;
  }

  static bool is_worth_sharing(double cost_left, std::size_t left) noexcept {
    if (cost_left < worth_handing_over || left < 2) return false;
    switch (work_wanted()) {
      case demand::none:
        return false;
      case demand::asleep:
        return cost_left >= worth_waking_for;
      case demand::searching:
        return true;
    }
    return false;
  }

  bool fixed_;
  std::size_t chunk_;
  std::size_t small_rest_;
  double aim_;
  std::uint64_t begin_;
};

}  // namespace weft::detail
