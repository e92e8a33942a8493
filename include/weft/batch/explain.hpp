#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <weft/batch/record.hpp>

namespace weft::batch {

// Why a rule began when it did, by what its run says. Rules are places in the record.
struct explanation {
  std::size_t rule = 0;
  std::size_t before = 0;  // how many rules it comes after, directly, through batches or barriers
  std::optional<std::size_t> last_before = std::nullopt;  // whose end made it ready
  double waited_for_room = 0;                             // seconds: memory, weight, load
  double waited_for_worker = 0;                           // seconds
  std::vector<std::size_t> overtook = {};  // began while it was ready, in order of their start
  std::optional<std::size_t> made_way = std::nullopt;  // ended on its worker right before
  double slack = 0;  // seconds that it could have been slower without a longer critical path
  bool is_critical = false;  // a part of the critical path
  std::size_t released = 0;  // rules for which it was the last to wait for
};

// Errors: plan_error as from make_report. `rule` must be below the number of rules.
[[nodiscard]] explanation explain(const run_record& record, std::size_t rule);

}  // namespace weft::batch
