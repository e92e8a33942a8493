#pragma once

#include <cstddef>
#include <vector>

#include "clock.hpp"
#include "options.hpp"
#include "report.hpp"

namespace bench {

// Warms the process up on a small instance for 30 ms, then times full instances: at least one, at
// most 25, for about 60 ms (quick) or 200 ms. Emits `time` in ms and returns the median.
template <class Warm, class Run>
double measure_time(const options& with, Warm&& warm, Run&& run) {
  const auto warm_until = now_ns() + 30'000'000;
  do warm();
  while (now_ns() < warm_until);

  constexpr std::size_t samples_max = 25;
  std::vector<double> samples_ms;
  const auto stop_at = now_ns() + (with.quick ? 60'000'000 : 200'000'000);
  do {
    const auto begin = now_ns();
    run();
    samples_ms.push_back(static_cast<double>(now_ns() - begin) / 1e6);
  } while (now_ns() < stop_at && samples_ms.size() < samples_max);
  emit("time", "ms", samples_ms);
  return median(samples_ms);
}

}  // namespace bench
