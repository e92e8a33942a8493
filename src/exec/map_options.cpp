#include <weft/exec/map_run.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace weft::detail {

void check_options(const map_options& options) {
  if (options.look_ahead && *options.look_ahead == 0) {
    throw std::invalid_argument(
        "weft: map_options::look_ahead is 0, and nothing could start; give at least 1");
  }
  if (options.chunk && *options.chunk == 0) {
    throw std::invalid_argument(
        "weft: map_options::chunk is 0, and a job would have no items; give at least 1");
  }
  if (options.timeout && *options.timeout < std::chrono::nanoseconds::zero()) {
    throw std::invalid_argument(
        "weft: map_options::timeout is negative; give 0 or more, or nothing to wait for ever");
  }
}

void throw_item_inside_iterator() {
  throw std::logic_error(
      "weft: executor::map: the iterator of this range shows items that live inside itself and "
      "cannot be copied; make values of them first, with std::views::transform");
}

std::string used_after_fork_message() {
  return "weft: executor::map began before a fork, and its threads are in the parent; make an "
         "executor in the child";
}

std::string timed_out_message(std::size_t index, std::chrono::nanoseconds timeout) {
  const double seconds = std::chrono::duration<double>(timeout).count();
  return "weft: executor::map: result " + std::to_string(index) + " was not there after " +
         std::to_string(seconds) + " s, the timeout of the map";
}

}  // namespace weft::detail
