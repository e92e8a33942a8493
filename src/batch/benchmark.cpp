#include <weft/batch/benchmark.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <weft/base/assert.hpp>

namespace weft::batch {
namespace {

// Of Student's distribution: 95 % of it lies within so many standard errors.
double t_quantile(std::size_t degrees) {
  constexpr std::array<double, 30> table = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                            2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                            2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                            2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  // Beyond the table the largest is a little too careful.
  return table[std::min(degrees, table.size()) - 1];
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// What each rule usually took in all runs of all variants. Policies that are simulated with these
// differ by what they decide alone.
std::vector<double> usual_durations(const std::vector<std::vector<run_report>>& runs) {
  std::vector<double> usual(runs.front().front().record.rules.size());
  std::vector<double> seen;
  for (std::size_t rule = 0; rule < usual.size(); ++rule) {
    seen.clear();
    for (const auto& of_variant : runs) {
      for (const run_report& run : of_variant) {
        const rule_record& record = run.record.rules[rule];
        if (has_run(record.status)) seen.push_back(record.duration);
      }
    }
    usual[rule] = seen.empty() ? 0 : median(seen);
  }
  return usual;
}

double simulated(run_record record, const std::vector<double>& durations, const variant& how) {
  for (std::size_t rule = 0; rule < durations.size(); ++rule) {
    record.rules[rule].duration = durations[rule];
  }
  return replay(record, how);
}

}  // namespace

interval mean_of(std::span<const double> values) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (values.empty()) return {.mean = 0, .low = -infinite, .high = infinite};
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  if (values.size() < 2) return {.mean = mean, .low = -infinite, .high = infinite};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  const double reach = t_quantile(values.size() - 1) * error;
  return {.mean = mean, .low = mean - reach, .high = mean + reach};
}

difference compare(const measured_variant& first, const measured_variant& second) {
  WEFT_ASSERT(first.times.size() == second.times.size(), "the runs of a round belong together");
  // Of ratios the logarithm is symmetric: twice as fast is as far from equal as half as fast.
  std::vector<double> logarithms;
  for (std::size_t round = 0; round < first.times.size(); ++round) {
    if (first.times[round] > 0 && second.times[round] > 0) {
      logarithms.push_back(std::log(second.times[round] / first.times[round]));
    }
  }
  const interval ratio = mean_of(logarithms);
  const auto percent = [](double logarithm) { return 100 * std::expm1(logarithm); };
  return {.first = first.how.name,
          .second = second.how.name,
          .change = {percent(ratio.mean), percent(ratio.low), percent(ratio.high)}};
}

benchmark_result summarise(std::span<const variant> variants,
                           std::vector<std::vector<run_report>> runs) {
  benchmark_result made;
  if (runs.empty() || runs.front().empty()) return made;
  const std::vector<double> usual = usual_durations(runs);
  made.plan = runs.front().front().record.plan;
  made.workers = runs.front().front().record.workers;
  made.lower_bound = std::numeric_limits<double>::infinity();
  for (std::size_t v = 0; v < variants.size(); ++v) {
    measured_variant measured{.how = variants[v]};
    for (const run_report& run : runs[v]) {
      measured.times.push_back(run.total_time);
      made.lower_bound = std::min(made.lower_bound, run.lower_bound);
    }
    measured.time = mean_of(measured.times);
    const auto typical = std::ranges::min_element(runs[v], {}, [&](const run_report& run) {
      return std::abs(run.total_time - measured.time.mean);
    });
    measured.simulated = simulated(typical->record, usual, measured.how);
    measured.typical = std::move(*typical);
    made.variants.push_back(std::move(measured));
  }
  for (std::size_t v = 1; v < made.variants.size(); ++v) {
    made.differences.push_back(compare(made.variants.front(), made.variants[v]));
  }
  return made;
}

}  // namespace weft::batch
