#pragma once

#include <vector>

#include <weft/telemetry/span.hpp>

#include "telemetry/trace_recorder.hpp"

namespace weft::telemetry {

// The contexts that have ended, and the runs of tasks in a distributed trace, since the last call.
[[nodiscard]] std::vector<span> take_spans(trace_recorder& from);

}  // namespace weft::telemetry
