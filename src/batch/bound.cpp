#include <weft/batch/bound.hpp>

#include <algorithm>
#include <ranges>

namespace weft::batch {

std::vector<double> upward_ranks(const graph& of, std::span<const double> cost) {
  std::vector<double> ranks(of.node_count(), 0.0);
  for (const node n : std::views::reverse(of.order())) {
    double after = 0;
    for (const node next : of.successors(n)) after = std::max(after, ranks[next]);
    ranks[n] = after + (of.is_gate(n) ? 0.0 : cost[n]);
  }
  return ranks;
}

double lower_bound::total() const noexcept {
  return std::max({critical_path, work_per_worker, longest});
}

lower_bound bound_of(const graph& of, std::span<const double> cost,
                     std::span<const unsigned> weight, unsigned workers) {
  lower_bound bound;
  const std::vector<double> ranks = upward_ranks(of, cost);
  double work = 0;
  for (node r = 0; r < of.rule_count(); ++r) {
    work += cost[r] * std::min(weight[r], workers);
    bound.longest = std::max(bound.longest, cost[r]);
  }
  bound.work_per_worker = work / workers;
  if (ranks.empty()) return bound;

  const auto larger = [&](node a, node b) { return ranks[a] < ranks[b]; };
  node at = *std::ranges::max_element(of.order(), larger);
  bound.critical_path = ranks[at];
  for (;;) {
    if (!of.is_gate(at) && cost[at] > 0) bound.path.push_back(at);
    const auto next = of.successors(at);
    if (next.empty()) return bound;
    at = *std::ranges::max_element(next, larger);
    if (ranks[at] <= 0) return bound;
  }
}

}  // namespace weft::batch
