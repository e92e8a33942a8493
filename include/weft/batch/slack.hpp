#pragma once

#include <span>
#include <vector>

#include <weft/batch/bound.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/record.hpp>

namespace weft::batch {

// What comes after what in a run. Errors: plan_error if the plan in the record is none, as in a log
// that somebody has edited.
[[nodiscard]] graph graph_of(const run_record& record);

// What each rule took; 0 for one that did not run.
[[nodiscard]] costs taken_by(const run_record& record);

// For every rule: by how much it could be slower before the critical path gets longer, if there
// were workers for all. 0 on the critical path.
[[nodiscard]] std::vector<double> slack_of(const graph& of, std::span<const double> cost);

}  // namespace weft::batch
