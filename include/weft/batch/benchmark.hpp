#pragma once

#include <cstddef>
#include <span>
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

// A mean, and where it lies with 95 % confidence (Student's t). With fewer than two values nothing
// is known about that, and the interval is infinite.
struct interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};
[[nodiscard]] interval mean_of(std::span<const double> values);

// How long a plan took one way. Times are seconds.
struct measured_variant {
  variant how;
  std::vector<double> times = {};  // of the real runs, in the order in which they ran
  interval time = {};
  double simulated = 0;     // what the dispatcher makes of what the rules took; 0: not known
  run_report typical = {};  // the run whose time is nearest to the mean; not in a file
};

// Two variants compared: `second` against `first`, in percent of the first; negative is faster.
struct difference {
  std::string first;
  std::string second;
  interval change = {};

  // It is not by chance: the interval does not contain 0.
  [[nodiscard]] bool is_significant() const noexcept { return change.low > 0 || change.high < 0; }
};

struct benchmark_result {
  std::string plan;
  unsigned workers = 1;
  double lower_bound = 0;  // seconds
  std::vector<measured_variant> variants = {};
  std::vector<difference> differences = {};  // each variant against the first
};

// Each variant ran once in every round, so that what the machine did meanwhile met all of them: the
// runs of a round are compared with each other. Both must have as many times.
[[nodiscard]] difference compare(const measured_variant& first, const measured_variant& second);

// Puts the runs of some variants together: `runs[v][round]`. Every variant has as many.
[[nodiscard]] benchmark_result summarise(std::span<const variant> variants,
                                         std::vector<std::vector<run_report>> runs);

// One JSON object. Each entry of `results` has the fields of a run's report, and `times`.
[[nodiscard]] std::string to_json(const benchmark_result& result);
// What a report needs of it: names, times, intervals. Errors: missing_input, no_permission;
// bad_data.
[[nodiscard]] result<benchmark_result> read_benchmark(const std::string& path);

// What a run would have taken under a variant, if every rule took what it took, and the dispatcher
// expected what it expected then.
[[nodiscard]] double replay(const run_record& record, const variant& how);
// The ways that differ: each policy, and batches one after another, fixed and by size.
[[nodiscard]] std::vector<variant> all_variants(const run_record& record);

}  // namespace weft::batch
