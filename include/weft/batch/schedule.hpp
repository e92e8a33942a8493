#pragma once

#include <optional>
#include <span>
#include <vector>

#include <weft/batch/dispatcher.hpp>

namespace weft::batch {

// Where and when a rule ran, in seconds since the beginning.
struct placement {
  unsigned worker = 0;
  double ready = 0;
  double start = 0;
  double end = 0;
  std::optional<unsigned> stolen_from = std::nullopt;
};

struct schedule {
  std::vector<placement> rules;  // as in the plan
  double makespan = 0;
};

// What a run would look like if every rule took what `actual` says and passed, while the dispatcher
// expects what `expected` says. Pure; the same dispatcher decides as in a real run.
[[nodiscard]] schedule simulate(const graph& of, std::span<const double> actual, costs expected,
                                std::vector<demand> demands, const dispatch_options& options);

}  // namespace weft::batch
