#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/batch/plan.hpp>

namespace weft::batch {

// A rule by its place in the plan, or a gate (see graph).
using node = std::uint32_t;

// What comes after what in a plan that has no problems.
//
// Nodes below rule_count() are the rules. The others are gates, which take no time: the beginning
// and the end of each batch. They keep the number of edges in proportion to the plan when a batch
// of a thousand rules comes after another one.
class graph {
 public:
  // Errors: plan_error.
  explicit graph(const plan& of);

  [[nodiscard]] node rule_count() const noexcept { return rule_count_; }
  [[nodiscard]] node node_count() const noexcept {
    return static_cast<node>(successors_.begins.size() - 1);
  }
  [[nodiscard]] bool is_gate(node n) const noexcept { return n >= rule_count_; }
  [[nodiscard]] std::span<const node> successors(node n) const { return successors_.of(n); }
  [[nodiscard]] std::span<const node> predecessors(node n) const { return predecessors_.of(n); }
  // Every node, each after its predecessors.
  [[nodiscard]] const std::vector<node>& order() const noexcept { return order_; }

  // Batches in the order in which a plan declares them. Rules without one make up the last.
  [[nodiscard]] std::size_t batch_count() const noexcept { return batch_names_.size(); }
  [[nodiscard]] const std::string& batch_name(std::size_t batch) const {
    return batch_names_[batch];
  }
  [[nodiscard]] std::uint32_t batch_of(node rule) const { return batch_of_[rule]; }

 private:
  // The neighbours of all nodes in one array.
  struct adjacency {
    std::vector<std::uint32_t> begins;  // one more than nodes
    std::vector<node> ends;

    [[nodiscard]] std::span<const node> of(node n) const {
      return std::span(ends).subspan(begins[n], begins[n + 1] - begins[n]);
    }
  };

  node rule_count_ = 0;
  adjacency successors_;
  adjacency predecessors_;
  std::vector<node> order_;
  std::vector<std::uint32_t> batch_of_;
  std::vector<std::string> batch_names_;
};

}  // namespace weft::batch
