#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <weft/flow/join_rule.hpp>
#include <weft/flow/retry.hpp>
#include <weft/io/classifier.hpp>

namespace weft {

enum class result_order : std::uint8_t { by_index, by_completion };

// How many instances may fail, that is throw or time out for good: `count`, or `percent` of all
// that were added, whichever is more. Percent is judged when no more can be added.
struct failure_tolerance {
  std::size_t count = 0;
  double percent = 0;  // 0 to 100
};

struct instance_options {
  // When the group has enough.
  join_rule join = {};
  // How many run at once; the others wait their turn in order of index. 0: no limit.
  std::size_t max_running = 0;
  retry_policy retry = {};
  // For one attempt, from its start; it is then asked to stop, waited for, and retried if it may
  // be. 0: is asked to stop as soon as it begins. Nothing: for ever.
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
  // For all, from the making of the group; what has not ended then ends as timed out.
  std::optional<std::chrono::nanoseconds> total_timeout = std::nullopt;
  // When more than these have failed the rest is cancelled, and join() throws the error with the
  // lowest index. Nothing: a failure stops nobody.
  std::optional<failure_tolerance> tolerated = std::nullopt;
  // Of what join() gives.
  result_order order = result_order::by_index;
  // Where instances run in a hybrid scheduler. Nothing: its classifier decides, by default
  // functions on the cores and coroutines in the I/O lane. A pool is its own lane.
  std::optional<lane_kind> lane = std::nullopt;
  // Of every instance, for people and for classifiers; is copied.
  std::string_view name = {};
};
static_assert(std::is_trivially_copyable_v<instance_options>,
              "g++ 12 destroys options twice that are made in an expression with a co_await");

namespace flow {

// Throws std::invalid_argument; `call` is the one to blame.
void check_options(const instance_options& options, const char* call);

}  // namespace flow
}  // namespace weft
