#pragma once

#include <cstdint>
#include <string>

#include <weft/adapt/sensed.hpp>

namespace weft::adapt {

struct process_sensor_options {
  std::string root = "/";  // /proc is below this
};

// Reads what this process itself takes.
//
// Threads: any. Blocks: reads a file of /proc. Errors: none.
class process_sensor {
 public:
  explicit process_sensor(process_sensor_options options = {});

  // Bytes of physical memory that the process has mapped, shared ones included.
  [[nodiscard]] sensed<std::uint64_t> read_resident() const;

 private:
  std::string root_;
};

}  // namespace weft::adapt
