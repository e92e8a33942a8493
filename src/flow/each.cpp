#include <weft/flow/each.hpp>

#include <stdexcept>
#include <string>

namespace weft::flow {

bool is_plain(const instance_options& options) noexcept {
  return options.max_running == 0 && options.retry.times == 0 && !options.timeout &&
         !options.total_timeout && !options.tolerated && options.name.empty() &&
         options.order == result_order::by_index && options.lane != lane_kind::blocking;
}

void require_all_values(const instance_options& options, const char* call) {
  check_options(options, call);
  const bool tolerates =
      options.tolerated && (options.tolerated->count > 0 || options.tolerated->percent > 0);
  if (!options.join.waits_for_all() || tolerates) {
    throw std::invalid_argument(std::string("weft: ") + call +
                                ": instance_options::" + (tolerates ? "tolerated" : "join") +
                                " leaves instances without a value to give; use each_outcome(), or "
                                "an instance_group");
  }
}

}  // namespace weft::flow
