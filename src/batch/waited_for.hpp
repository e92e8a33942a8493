#pragma once

#include <optional>
#include <vector>

#include <weft/batch/graph.hpp>
#include <weft/batch/record.hpp>

namespace weft::batch {

// For every rule the one whose end made it ready: of those that it comes after, itself, through a
// batch, or because a barrier kept their batches apart, the one that ended last.
[[nodiscard]] std::vector<std::optional<node>> waited_for(const graph& shape,
                                                          const run_record& record);

// For every rule when its batch began, if there were barriers and it did: rules of a batch that
// began earlier come before it.
[[nodiscard]] std::vector<std::optional<double>> batch_begins(const run_record& record);

}  // namespace weft::batch
