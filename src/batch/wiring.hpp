#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/batch/graph.hpp>
#include <weft/batch/plan.hpp>

namespace weft::batch {

// The names of a plan resolved to nodes and edges; a graph is this, sorted.
struct wiring {
  node rule_count = 0;
  std::vector<std::string> batch_names;
  std::vector<std::uint32_t> batch_of;
  std::vector<std::pair<node, node>> edges;  // first before second
  std::vector<plan_problem> problems;  // names that are taken, unknown, or depend on themselves

  [[nodiscard]] node begin_of(std::size_t batch) const {
    return rule_count + static_cast<node>(2 * batch);
  }
  [[nodiscard]] node end_of(std::size_t batch) const { return begin_of(batch) + 1; }
  [[nodiscard]] node node_count() const { return begin_of(batch_names.size()); }
};

[[nodiscard]] wiring wire(const plan& of);

// The nodes, each after its predecessors and otherwise as they come; fewer than `nodes` if some
// wait for each other.
[[nodiscard]] std::vector<node> topological_order(node nodes,
                                                  const std::vector<std::pair<node, node>>& edges);

// Everything that is wrong with the plan; `order` is the topological one of its wires.
[[nodiscard]] std::vector<plan_problem> problems_of(const plan& of, const wiring& wires,
                                                    const std::vector<node>& order);

// One cycle among the nodes that no order can hold, as "a -> b -> a".
[[nodiscard]] plan_problem describe_cycle(const plan& of, const wiring& wires,
                                          const std::vector<node>& order);

}  // namespace weft::batch
