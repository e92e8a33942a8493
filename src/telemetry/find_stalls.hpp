#pragma once

#include <chrono>
#include <vector>

#include <weft/telemetry/stall.hpp>

#include "telemetry/trace_recorder.hpp"

namespace weft::telemetry {

// The work that has gone on for that long, the longest first.
[[nodiscard]] std::vector<stall> find_stalls(const trace_recorder& in,
                                             std::chrono::nanoseconds at_least);

}  // namespace weft::telemetry
