#pragma once

#include <chrono>

namespace weft::adapt {

// What policies and sensors are told to be now. Monotonic: a change of the wall clock must neither
// open nor shut a gate.
using time_point = std::chrono::steady_clock::time_point;

}  // namespace weft::adapt
