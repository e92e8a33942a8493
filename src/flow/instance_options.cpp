#include <weft/flow/instance_options.hpp>

#include <cmath>
#include <stdexcept>
#include <string>

namespace weft::flow {
namespace {

void require(bool holds, const char* call, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("weft: ") + call + ": " + what);
}

bool is_negative(const std::optional<std::chrono::nanoseconds>& time) {
  return time && *time < std::chrono::nanoseconds::zero();
}

}  // namespace

void check_options(const instance_options& options, const char* call) {
  require(!is_negative(options.timeout), call,
          "instance_options::timeout is negative; give 0 or more, or nothing to wait for ever");
  require(!is_negative(options.total_timeout), call,
          "instance_options::total_timeout is negative; give 0 or more, or nothing to wait for "
          "ever");
  const retry_policy& retry = options.retry;
  require(retry.pause >= retry.pause.zero() && retry.longest >= retry.longest.zero(), call,
          "a pause in instance_options::retry is negative; give 0 or more");
  require(retry.factor >= 1 && std::isfinite(retry.factor), call,
          "instance_options::retry.factor must be 1 or more, so that pauses do not shrink");
  require(
      retry.jitter >= 0 && retry.jitter <= 1, call,
      "instance_options::retry.jitter must be from 0 to 1: the share of a pause that is random");
  if (options.tolerated) {
    const double percent = options.tolerated->percent;
    require(percent >= 0 && percent <= 100, call,
            "instance_options::tolerated.percent must be from 0 to 100");
  }
}

}  // namespace weft::flow
