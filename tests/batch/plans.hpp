#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <weft/batch/dispatcher.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/plan.hpp>

namespace weft::test {

// A rule that only has a place in a plan.
inline rule named(std::string id, std::vector<std::string> after = {}, std::string batch = {}) {
  return {.id = std::move(id), .batch = std::move(batch), .after = std::move(after), .shell = ":"};
}

inline std::vector<batch::demand> light(const batch::graph& of) {
  return std::vector<batch::demand>(of.rule_count());
}

// A plan of layers in which every rule comes after up to `parents` rules, drawn at random from all
// layers before its own, and what each rule takes: lognormal, with a median of 0.12 s.
struct layered {
  weft::plan plan;
  batch::costs cost;
};

inline layered make_layered(const std::vector<std::size_t>& sizes, std::size_t parents,
                            double sigma, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> duration(std::log(0.12), sigma);
  layered made;
  std::vector<std::string> before;
  for (std::size_t layer = 0; layer < sizes.size(); ++layer) {
    const std::string batch = "b" + std::to_string(layer);
    made.plan.add_batch({.id = batch});
    std::vector<std::string> now;
    for (std::size_t i = 0; i < sizes[layer]; ++i) {
      std::set<std::string> after;
      for (std::size_t k = 0; k < parents && !before.empty(); ++k) {
        after.insert(before[random() % before.size()]);
      }
      now.push_back(batch + "." + std::to_string(i));
      made.plan.add(named(now.back(), {after.begin(), after.end()}, batch));
      made.cost.push_back(duration(random));
    }
    before.insert(before.end(), now.begin(), now.end());
  }
  return made;
}

// The batches of the validator from which the idea comes: 384 rules.
inline const std::vector<std::size_t> source_batches = {1, 2, 1, 6, 23, 43, 63, 60, 185};

}  // namespace weft::test
