#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "options.hpp"

namespace bench {

// Times the turns of a loop from inside, where a coroutine cannot hand its body to a function:
//   while (laps.next()) { ... }
// Warms up for 30 ms, then counts turns for 60 ms (quick) or 120 ms, at least three.
class laps {
 public:
  explicit laps(const options& with) : measured_ns_(with.quick ? 60'000'000 : 120'000'000) {}

  bool next() {
    const auto now = now_ns();
    if (begin_ == 0) begin_ = now;
    const bool warm = lap_begin_ != 0 && lap_begin_ - begin_ >= warm_ns;
    if (warm) samples_ns_.push_back(static_cast<double>(now - lap_begin_));
    const bool enough = samples_ns_.size() >= 3 && now - begin_ >= warm_ns + measured_ns_;
    lap_begin_ = enough ? 0 : now_ns();
    return !enough;
  }

  // What one of the `parts` of a turn takes.
  [[nodiscard]] std::vector<double> samples_ns(std::size_t parts) const {
    auto samples = samples_ns_;
    for (double& sample : samples) sample /= static_cast<double>(parts);
    return samples;
  }

 private:
  static constexpr std::int64_t warm_ns = 30'000'000;
  std::int64_t measured_ns_;
  std::int64_t begin_ = 0;
  std::int64_t lap_begin_ = 0;
  std::vector<double> samples_ns_;
};

}  // namespace bench
