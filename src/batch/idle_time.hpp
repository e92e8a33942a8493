#pragma once

#include <vector>

#include <weft/batch/record.hpp>
#include <weft/batch/report.hpp>

namespace weft::batch {

// What went on in a run from a moment until the next.
struct situation {
  double since = 0;
  double busy = 0;     // workers
  double ready = 0;    // rules that nothing keeps from running
  double held = 0;     // workers that rules without room want
  double pending = 0;  // rules that wait for others
  double limit = 0;    // workers that may run
};

// In order of time, none after `elapsed`; each lasts until the next, the last one until `elapsed`.
[[nodiscard]] std::vector<situation> situations_of(const run_record& record, double elapsed);

// How many workers were idle in a situation, and why.
struct idle_workers {
  double beyond_limit = 0;  // of admission: not allowed to run
  double held = 0;          // of admission: no room for what is ready
  double overhead = 0;
  double dependency = 0;
  double tail = 0;
};
[[nodiscard]] idle_workers idle_workers_in(const situation& now, double workers);

// Why workers were idle: seconds of the run, that is worker-seconds / workers, by reason. Together
// with the busy time they make up the run.
[[nodiscard]] gap_parts idle_time(const run_record& record, double elapsed);

// The same after taking out what no schedule could have avoided, `unavoidable` seconds: first of
// waiting for other rules and of the tail, which is where it is.
[[nodiscard]] gap_parts without_unavoidable(gap_parts idle, double unavoidable);

}  // namespace weft::batch
