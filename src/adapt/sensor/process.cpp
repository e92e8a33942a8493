#include <weft/adapt/sensor/process.hpp>

#include <unistd.h>

#include <limits>
#include <utility>

#include "adapt/sensor/source.hpp"
#include "base/text.hpp"

namespace weft::adapt {

process_sensor::process_sensor(process_sensor_options options)
    : root_(base::without_trailing_slashes(std::move(options.root))) {}

// Fields are `size resident shared text lib data dt`, in pages.
sensed<std::uint64_t> process_sensor::read_resident() const {
  const std::string path = root_ + "/proc/self/statm";
  const auto text = detail::read_source(path);
  if (!text) return unavailable{text.reason()};
  const auto fields = base::words(*text);
  if (fields.size() < 2) return detail::makes_no_sense(path);
  const auto pages = base::parse_whole<std::uint64_t>(fields[1]);
  const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (!pages || *pages > std::numeric_limits<std::uint64_t>::max() / page_size) {
    return detail::makes_no_sense(path);
  }
  return *pages * page_size;
}

}  // namespace weft::adapt
