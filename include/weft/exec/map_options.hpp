#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace weft {

struct map_options {
  // For the whole map, from begin() on: the result that is not there when it has passed is replaced
  // by a timed_out exception. Nothing: for ever.
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
  // How many items make one job. Nothing: so many that a job takes some 50 us, one if they are
  // slow.
  std::optional<std::size_t> chunk = std::nullopt;
  // How many items may be started and not yet handed out: what the map may have done too much when
  // the loop ends early is one less. Nothing: 16 for each worker there is at begin().
  std::optional<std::size_t> look_ahead = std::nullopt;
};

}  // namespace weft
