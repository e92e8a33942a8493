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

// How far a run has come.
struct progress {
  struct running_rule {
    node rule = 0;
    unsigned worker = 0;
    double left = 0;  // seconds that it will still take
  };
  struct postponed_rule {
    node rule = 0;
    double left = 0;  // seconds until it will be tried again
  };
  std::vector<node> finished = {};
  std::vector<running_rule> running = {};
  std::vector<postponed_rule> postponed = {};
  std::optional<unsigned> worker_limit = std::nullopt;  // with barriers: of the batch under way
};

// What a run would look like if every rule took what `actual` says and passed, while the dispatcher
// expects what `expected` says. Pure; the same dispatcher decides as in a real run. One that has
// come somewhere already begins there: the makespan is what is left.
[[nodiscard]] schedule simulate(const graph& of, std::span<const double> actual, costs expected,
                                std::vector<demand> demands, const dispatch_options& options,
                                const progress& so_far = {});

}  // namespace weft::batch
