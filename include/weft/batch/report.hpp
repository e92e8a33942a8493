#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/batch/record.hpp>

namespace weft {

// What one worker did.
struct worker_report {
  double busy = 0;  // seconds
  double idle = 0;
  std::size_t tasks = 0;
  std::size_t steals = 0;
  std::uint64_t steal_attempts = 0;
  double utilisation = 0;  // percent of the run
};

struct batch_report {
  std::string id;
  std::string name;
  std::size_t rules = 0;
  std::size_t passed = 0;
  std::size_t failed = 0;
  unsigned workers = 0;         // allowed with barriers, else used at once at most
  double seconds = 0;           // from the first start to the last end
  double predicted = 0;         // for that, on those workers
  double prediction_error = 0;  // percent, of its rules
  double utilisation = 0;       // percent: busy / (workers x seconds)
  std::size_t steals = 0;
};

// Where the time above the lower bound went, in seconds of the run. The parts add up to the gap.
struct gap_parts {
  double dependency = 0;  // workers idle because what was left waited for rules that ran
  double tail = 0;        // workers idle because nothing was left to begin
  double admission = 0;   // workers idle because memory, weight, load or a table said so
  double overhead = 0;    // workers idle although a rule was ready
};

// What to say about a run; computed from its record alone.
struct run_report {
  run_record record;

  std::string mode;  // fixed, adaptive_cold, adaptive_warm
  double total_time = 0;
  std::size_t total_rules = 0;
  std::size_t passed_count = 0;  // flaky and warned ones too
  std::size_t failed_count = 0;
  std::size_t flaky_count = 0;
  std::size_t warned_count = 0;
  std::size_t skipped_count = 0;
  std::size_t waiting_count = 0;  // never began

  double avg_worker_utilization = 0;  // percent: busy / (workers x total_time)
  double min_worker_utilization = 0;
  double max_worker_utilization = 0;
  double utilization_variance = 0;  // standard deviation, in points
  double overall_efficiency = 0;    // percent: work / (workers x total_time)
  std::size_t total_steals = 0;
  double steal_percentage = 0;      // of the rules that ran
  double avg_prediction_error = 0;  // percent: sum of |predicted - taken| / sum of taken

  double lower_bound = 0;    // max(critical path, work / workers, longest rule)
  double gap = 0;            // total_time / lower_bound
  double critical_path = 0;  // seconds
  double work = 0;           // seconds, of all rules; a rule of weight two counts twice
  double longest_rule = 0;   // seconds
  std::vector<std::string> critical_rules;
  weft::gap_parts gap_parts;

  std::vector<worker_report> worker_stats;
  std::vector<batch_report> batches;

  std::vector<std::string> warnings;  // about profiles and logs, for the user

  // Nothing failed and nothing was left out.
  [[nodiscard]] bool passed() const noexcept {
    return failed_count == 0 && skipped_count == 0 && waiting_count == 0;
  }
};

// Errors: plan_error if the plan in the record is none, as in a log that somebody has edited.
[[nodiscard]] run_report make_report(run_record record);

// One JSON object: the fields above and `rules`.
[[nodiscard]] std::string to_json(const run_report& report);

}  // namespace weft
