#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weft/batch/record.hpp>

namespace weft::batch {

// One time that a rule ran.
struct past_run {
  std::string run = {};  // its id
  double began = 0;      // seconds since 1970
  double duration = 0;
  rule_status status = rule_status::passed;
};

// What the logs tell about a rule, the oldest run first.
struct rule_history {
  std::vector<past_run> runs;

  // A time that at least half, or 90 %, of the runs did not exceed; 0 without any.
  [[nodiscard]] double p50() const;
  [[nodiscard]] double p90() const;
  // How much slower the later half of the runs was than the earlier one: the ratio of their
  // medians; 1 with fewer than four runs.
  [[nodiscard]] double trend() const;
  // The share of runs in which it passed only after failing, 0 to 1.
  [[nodiscard]] double flake_rate() const;
  [[nodiscard]] double failure_rate() const;
};

// The rules of a plan in a number of runs.
struct history {
  std::size_t runs = 0;
  std::map<std::string, rule_history, std::less<>> rules;

  // Runs must be added oldest first.
  void add(const run_record& record);
  [[nodiscard]] const rule_history* find(std::string_view rule) const;
};

// The runs of the same plan file in a directory of logs: the given one, and at most `most` - 1 that
// began before it. Logs that cannot be read are left out.
[[nodiscard]] history read_history(const std::string& directory, const run_record& until,
                                   std::size_t most = 20);

}  // namespace weft::batch
