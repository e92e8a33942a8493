#pragma once

#include <weft/batch/record.hpp>
#include <weft/batch/report.hpp>

namespace weft::batch {

// Why workers were idle: seconds of the run, that is worker-seconds / workers, by reason. Together
// with the busy time they make up the run.
[[nodiscard]] gap_parts idle_time(const run_record& record, double elapsed);

// The same after taking out what no schedule could have avoided, `unavoidable` seconds: first of
// waiting for other rules and of the tail, which is where it is.
[[nodiscard]] gap_parts without_unavoidable(gap_parts idle, double unavoidable);

}  // namespace weft::batch
