#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::telemetry {

// How many values fell between given bounds, and their sum.
class histogram {
 public:
  // Ascending; values above the last one have a bucket of their own. They outlive it.
  explicit histogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  void record(double value) {
    std::size_t bucket = 0;
    while (bucket < bounds_.size() && value > bounds_[bucket]) ++bucket;
    ++counts_[bucket];
    sum_ += value;
  }

  [[nodiscard]] std::span<const double> bounds() const noexcept { return bounds_; }
  // One more than bounds.
  [[nodiscard]] std::span<const std::uint64_t> counts() const noexcept { return counts_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

}  // namespace weft::telemetry
