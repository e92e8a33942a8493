#pragma once

#include <span>
#include <vector>

#include <weft/batch/graph.hpp>

namespace weft::batch {

// What each node is expected to take, in seconds; gates take none.
using costs = std::vector<double>;

// For every node, the length of the longest way from its beginning to the end of the plan. Starting
// the largest first keeps the critical path moving.
[[nodiscard]] std::vector<double> upward_ranks(const graph& of, std::span<const double> cost);

// No schedule is shorter than total().
struct lower_bound {
  double critical_path = 0;  // seconds along `path`
  double work_per_worker = 0;
  double longest = 0;
  std::vector<node> path;  // rules of the critical path, first to last

  [[nodiscard]] double total() const noexcept;
};

// `weight` is how many workers each rule counts for; more than `workers` counts as all of them.
[[nodiscard]] lower_bound bound_of(const graph& of, std::span<const double> cost,
                                   std::span<const unsigned> weight, unsigned workers);

}  // namespace weft::batch
