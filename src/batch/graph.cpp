#include <weft/batch/graph.hpp>

#include <utility>

#include "batch/wiring.hpp"

namespace weft::batch {

graph::graph(const plan& of) {
  wiring wires = wire(of);
  order_ = topological_order(wires.node_count(), wires.edges);
  if (auto problems = problems_of(of, wires, order_); !problems.empty()) {
    throw plan_error(std::move(problems));
  }
  rule_count_ = wires.rule_count;
  batch_of_ = std::move(wires.batch_of);
  batch_names_ = std::move(wires.batch_names);

  const node nodes = rule_count_ + static_cast<node>(2 * batch_names_.size());
  const auto adjacent = [&](auto from, auto to) {
    adjacency made;
    made.begins.assign(nodes + 1, 0);
    for (const auto& edge : wires.edges) ++made.begins[edge.*from + 1];
    for (node n = 0; n < nodes; ++n) made.begins[n + 1] += made.begins[n];
    made.ends.resize(wires.edges.size());
    std::vector<std::uint32_t> filled(made.begins.begin(), made.begins.end() - 1);
    for (const auto& edge : wires.edges) made.ends[filled[edge.*from]++] = edge.*to;
    return made;
  };
  using edge = std::pair<node, node>;
  successors_ = adjacent(&edge::first, &edge::second);
  predecessors_ = adjacent(&edge::second, &edge::first);
}

}  // namespace weft::batch
