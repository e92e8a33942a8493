#pragma once

#include <weft/batch/graph.hpp>
#include <weft/batch/report.hpp>

namespace weft::batch {

// As weft::make_report, for those who have the graph of the plan at hand.
[[nodiscard]] run_report make_report(run_record record, const graph& shape);

}  // namespace weft::batch
