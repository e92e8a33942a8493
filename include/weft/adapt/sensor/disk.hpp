#pragma once

#include <cstdint>
#include <string>

#include <weft/adapt/sensed.hpp>

namespace weft::adapt {

struct disk_sensor_options {
  std::string path = "/";  // a file or directory on the file system to watch
};

// Space on a file system, as df shows it: what is kept for the superuser is neither free nor part
// of the size.
struct disk_space {
  std::uint64_t free = 0;  // bytes
  std::uint64_t size = 0;  // bytes

  [[nodiscard]] double free_share() const noexcept;
};

// Reads how much room a file system has.
//
// Threads: any. Blocks: asks the file system, which over a network may take long. Errors: none.
class disk_sensor {
 public:
  explicit disk_sensor(disk_sensor_options options = {});

  [[nodiscard]] sensed<disk_space> read() const;

 private:
  std::string path_;
};

}  // namespace weft::adapt
