#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <weft/batch/plan.hpp>
#include <weft/batch/record.hpp>

namespace weft::batch {

// Which rules of a plan are wanted. Patterns are globs over ids.
struct selection {
  std::vector<std::string> only = {};  // these, and everything they come after
  std::vector<std::string> tags = {};  // as `only`, for rules that have one of these tags
  std::vector<std::string> skip = {};  // not these; what comes after them does not wait for them
  std::vector<std::string> done = {};  // as `skip`, but ids and no patterns

  // Everything is wanted.
  [[nodiscard]] bool empty() const noexcept {
    return only.empty() && tags.empty() && skip.empty() && done.empty();
  }
};

// The plan with the wanted rules alone. Batches stay, also those without rules. What a pattern
// does not match is for the caller to notice: the plan is then smaller, or empty.
[[nodiscard]] plan select(const plan& from, const selection& wanted);

// A part of a plan that is run by several programs at once, each on another part.
struct shard {
  std::size_t index = 1;  // from 1
  std::size_t count = 1;
};

// The rules of one part. Rules that nothing comes after are dealt to the parts, largest first, so
// that all take about as long; `cost` says how long. What a rule comes after is in its part too,
// if need be in several: a part must be able to run alone.
[[nodiscard]] plan select(const plan& from, const shard& part, std::span<const double> cost);

// What each rule is expected to take, from a profile file (empty: none) and the hints of the plan.
struct expectation {
  std::vector<double> seconds;
  std::vector<cost_source> sources;
  std::string problem;  // why the profile file is of no use; empty: it is, or there is none
};
[[nodiscard]] expectation expect(const plan& of, const std::string& profiles);

// The seconds alone.
[[nodiscard]] std::vector<double> expected_costs(const plan& of, const std::string& profiles);

}  // namespace weft::batch
