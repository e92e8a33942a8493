#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weft/batch/bound.hpp>
#include <weft/batch/dispatcher.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/plan.hpp>

namespace weft::batch {

// What the rules of a plan take up.
[[nodiscard]] std::vector<demand> demands_of(const plan& of);

// How long a plan would take on so many workers.
struct forecast {
  unsigned workers = 1;
  double makespan = 0;     // seconds
  double lower_bound = 0;  // seconds
  double utilisation = 0;  // percent
};

// A plan whose rules take what is expected of them. Pure: it simulates.
class forecaster {
 public:
  // `of` must outlive this. `options.workers` does not count.
  forecaster(const graph& of, costs expected, std::vector<demand> demands,
             const dispatch_options& options);

  [[nodiscard]] forecast on(unsigned workers) const;

  // 1, 2, 4, ... workers, as long as twice as many save more than a hundredth.
  [[nodiscard]] std::vector<unsigned> worthwhile_workers(unsigned most) const;

  // Rules whose cost, halved, makes the plan shorter, and by how many seconds: the best `count`.
  struct saving {
    node rule = 0;
    double seconds = 0;
  };
  [[nodiscard]] std::vector<saving> worth_making_faster(unsigned workers, std::size_t count) const;

  [[nodiscard]] lower_bound bound_on(unsigned workers) const;

 private:
  [[nodiscard]] double makespan(unsigned workers, const costs& cost) const;

  const graph& graph_;
  costs cost_;
  std::vector<demand> demands_;
  dispatch_options options_;
};

}  // namespace weft::batch
