#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

// Nearest rank: always a value that was measured. `fraction` in [0, 1], `values` not empty.
inline double quantile(std::vector<double> values, double fraction) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::ptrdiff_t>(std::llround(fraction * last));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace bench
