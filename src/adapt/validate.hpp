#pragma once

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace weft::adapt {

// Refuses a field of a configuration that is not in [low, high]; NaN is not. `unit` follows the
// numbers, as in " s".
template <class Value>
void require_within(std::string_view field, Value value, Value low, Value high,
                    std::string_view unit = "") {
  if (value >= low && value <= high) return;
  std::ostringstream message;
  message << field << " is " << value << unit << ", and must be between " << low << " and " << high
          << unit;
  throw std::invalid_argument(message.str());
}

// Refuses a time below `low` milliseconds or beyond a year: that is for ever, and sums of times
// that are no longer do not overflow.
inline void require_time(std::string_view field, std::chrono::milliseconds value,
                         std::chrono::milliseconds::rep low) {
  constexpr std::chrono::milliseconds year = std::chrono::hours(24 * 365);
  require_within(field, value.count(), low, year.count(), " ms");
}

}  // namespace weft::adapt
