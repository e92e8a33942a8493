#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/batch/record.hpp>
#include <weft/batch/report.hpp>

namespace weft::batch {

// A way to run a plan.
struct variant {
  std::string name;  // "Adaptive (8 base) - Warm Start"
  std::string mode;  // fixed, adaptive_cold, adaptive_warm
  run_policy policy = run_policy::critical_path;
  bool barriers = false;
  bool fixed = false;
};

// How long a plan took one way. Times are seconds.
struct measured_variant {
  variant how;
  std::vector<double> times;  // of the real runs, in the order in which they ran
  double median = 0;
  double low = 0;  // between these lies the median, with 95 % confidence
  double high = 0;
  double simulated = 0;  // what the dispatcher makes of the durations recorded in the runs
  run_report typical;    // the run whose time is nearest to the median
};

// Two variants compared: `second` against `first`.
struct difference {
  std::string first;
  std::string second;
  double change = 0;  // percent of the first; negative: the second is faster
  double low = 0;     // with 95 % confidence
  double high = 0;
  bool significant = false;
};

struct benchmark_result {
  std::string plan;
  unsigned workers = 1;
  double lower_bound = 0;  // of the run with the smallest one
  std::vector<measured_variant> variants;
  std::vector<difference> differences;  // each variant against the first
};

// Median and interval of a variant from its times.
void summarise(measured_variant& of);
// Whether the times of one variant differ from those of another by more than chance, judged by
// resampling with a fixed seed.
[[nodiscard]] difference compare(const measured_variant& first, const measured_variant& second);

// One JSON object. Each entry of `results` has the fields of a run's report, and `times`.
[[nodiscard]] std::string to_json(const benchmark_result& result);
// What a report needs of it: names, times, medians, intervals. Errors: missing_input, bad_data.
[[nodiscard]] result<benchmark_result> read_benchmark(const std::string& path);

// What a run would have taken under a variant, if every rule took what it took, and the dispatcher
// expected what it expected then.
[[nodiscard]] double replay(const run_record& record, const variant& how);
// The ways that differ: each policy, and batches one after another, fixed and by size.
[[nodiscard]] std::vector<variant> all_variants(const run_record& record);

}  // namespace weft::batch
