#pragma once

#include <chrono>
#include <cmath>

namespace weft::batch {

[[nodiscard]] inline double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// What the event log will say of a time, so that a report of the run and one of its log agree to
// the last digit.
[[nodiscard]] inline double to_the_nanosecond(double seconds) {
  return std::round(seconds * 1e9) / 1e9;
}

}  // namespace weft::batch
