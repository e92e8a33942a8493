#include <weft/flow/retry.hpp>

#include <algorithm>
#include <cmath>

namespace weft::flow {

std::chrono::nanoseconds pause_before_retry(const retry_policy& policy, unsigned failed,
                                            double draw) noexcept {
  using std::chrono::nanoseconds;
  using seconds = std::chrono::duration<double>;
  if (policy.pause == nanoseconds::zero()) return policy.pause;  // however often it is multiplied
  // In floating point: the power may be infinite, and is then cut to `longest`.
  const double grown =
      seconds(policy.pause).count() * std::pow(policy.factor, static_cast<double>(failed - 1));
  const double full = std::min(grown, seconds(policy.longest).count());
  const seconds pause(full * (1 - policy.jitter * draw));
  // Rounding may lead beyond the longest of all.
  if (pause >= seconds(nanoseconds::max())) return nanoseconds::max();
  return std::chrono::duration_cast<nanoseconds>(pause);
}

}  // namespace weft::flow
