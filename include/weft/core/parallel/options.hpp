#pragma once

#include <cstddef>
#include <stop_token>

namespace weft {

// What every parallel algorithm takes as its last argument. The defaults are right for almost all
// uses.
struct parallel_options {
  // The least number of elements that are worth handing to another worker. 0: found out by timing
  // the first ones.
  std::size_t grain = 0;
  // Stops the algorithm early, which then throws cancelled. It is looked at between pieces: every
  // few microseconds, or, with a grain, as often as that says.
  std::stop_token stop = {};
};

}  // namespace weft
