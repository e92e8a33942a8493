#pragma once

#include <chrono>

namespace weft {

// How often an instance that failed or timed out is begun again, and after which pause.
struct retry_policy {
  // Attempts after the first. 0: none.
  unsigned times = 0;
  // Before the second attempt; then `factor` times longer for each, up to `longest`.
  std::chrono::nanoseconds pause = std::chrono::nanoseconds::zero();
  double factor = 2;
  std::chrono::nanoseconds longest = std::chrono::minutes(1);
  // 0 to 1: the share of a pause that is drawn at random, so that many that failed together do not
  // come back together.
  double jitter = 0.5;
};

namespace flow {

// The pause after so many failed attempts, 1 or more; `draw` is from 0 to 1.
[[nodiscard]] std::chrono::nanoseconds pause_before_retry(const retry_policy& policy,
                                                          unsigned failed, double draw) noexcept;

}  // namespace flow
}  // namespace weft
