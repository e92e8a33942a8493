#pragma once

#include <cstdint>
#include <string>

#include <weft/adapt/sensed.hpp>

namespace weft::adapt {

struct memory_sensor_options {
  std::string root = "/";  // /proc and the cgroup mounts are below this
};

// How much of a limited memory is in use and cannot simply be dropped.
struct memory_use {
  std::uint64_t used = 0;   // bytes
  std::uint64_t limit = 0;  // bytes
  std::string where;        // "the machine", or the directory of a control group

  // A memory of no size is full.
  [[nodiscard]] double share() const noexcept;
};

struct memory_reading {
  sensed<memory_use> machine;  // what is not available, of all
  // Of the own cgroup and its ancestors the one that is nearest to its limit, or to the mark where
  // the kernel begins to slow it down. An ancestor that is hidden from a container counts where
  // the kernel tells its limit, in v1, with the use of the own group. Pages of files that were not
  // used lately do not count: the kernel drops them before it runs out.
  sensed<memory_use> group;
  sensed<std::uint64_t> oom_kills;  // processes of the own group killed for want of memory, so far

  // The worse of the machine and the group.
  [[nodiscard]] sensed<memory_use> worst() const;
};

// Reads how much memory is left before something is killed.
//
// Threads: any. Blocks: reads files of /proc and of the cgroup mounts. Errors: none.
class memory_sensor {
 public:
  explicit memory_sensor(memory_sensor_options options = {});

  [[nodiscard]] memory_reading read() const;

 private:
  std::string root_;
};

}  // namespace weft::adapt
