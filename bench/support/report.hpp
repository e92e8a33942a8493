#pragma once

#include <cstdio>
#include <span>

namespace bench {

// One JSON line per metric, with every sample of this process; the driver forms the medians.
inline void emit(const char* metric, const char* unit, std::span<const double> samples) {
  std::printf("{\"metric\":\"%s\",\"unit\":\"%s\",\"samples\":[", metric, unit);
  const char* separator = "";
  for (const double sample : samples) {
    std::printf("%s%.6g", separator, sample);
    separator = ",";
  }
  std::printf("]}\n");
}

inline void emit(const char* metric, const char* unit, double value) {
  emit(metric, unit, std::span(&value, 1));
}

}  // namespace bench
