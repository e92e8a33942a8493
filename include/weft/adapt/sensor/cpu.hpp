#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/adapt/sensed.hpp>
#include <weft/adapt/time_point.hpp>
#include <weft/base/topology.hpp>

namespace weft::adapt {

struct cpu_sensor_options {
  std::string root = "/";                    // /proc and the cgroup mounts are below this
  base::affinity_reader affinity = nullptr;  // nullptr asks the kernel
};

// A share, and the control group it was seen in.
struct group_share {
  double share = 0;
  std::string group;  // its directory
};

// Shares are since the reading before. Of several groups with a quota the worst one is told: a
// process that an ancestor throttles stands still as well.
struct cpu_reading {
  unsigned usable = 1;            // CPUs this process may keep busy, as base::usable_cpus tells
  sensed<double> quota;           // tightest cgroup quota in CPUs, exact
  sensed<double> utilisation;     // of the machine, 0 to 1; waiting for I/O is idle, stolen is busy
  sensed<group_share> quota_use;  // CPU time a group used of what its quota allows; may exceed 1
  sensed<group_share> throttled;  // periods in which a group had to stop, of those it ran in
  sensed<double> load_per_cpu;    // load average of a minute by CPU of the machine
};

// Reads how busy the CPUs are, and how much of them this process may use.
//
// Threads: one at a time. Blocks: reads files of /proc and of the cgroup mounts. Errors: none; what
// is missing, makes no sense or went back since the last time is not available in that reading.
class cpu_sensor {
 public:
  explicit cpu_sensor(cpu_sensor_options options = {});

  [[nodiscard]] cpu_reading read(time_point now);

 private:
  struct machine_ticks {
    std::uint64_t busy = 0;
    std::uint64_t idle = 0;
  };
  struct group_counters {
    std::string directory;
    time_point at;
    sensed<std::uint64_t> used_us;
    sensed<std::uint64_t> periods;
    sensed<std::uint64_t> throttled;
  };

  static sensed<machine_ticks> parse_ticks(const std::string& stat, const std::string& path);
  static sensed<double> utilisation_since(const std::optional<machine_ticks>& before,
                                          const sensed<machine_ticks>& after);
  static sensed<group_share> use_since(const group_counters* before, const group_counters& after,
                                       const base::cpu_quota& quota);
  static sensed<group_share> throttled_since(const group_counters* before,
                                             const group_counters& after,
                                             const base::cpu_quota& quota);

  void read_machine(cpu_reading& reading);
  void read_groups(const std::vector<base::cpu_quota>& quotas, time_point now,
                   cpu_reading& reading);
  [[nodiscard]] group_counters read_counters(const base::cgroup& group, time_point now) const;
  [[nodiscard]] sensed<std::uint64_t> read_used_us_v1(const base::cgroup& group) const;
  [[nodiscard]] const group_counters* find_last(const std::string& directory) const;

  std::string root_;
  base::affinity_reader affinity_;
  std::optional<machine_ticks> last_ticks_;
  std::vector<group_counters> last_groups_;
};

}  // namespace weft::adapt
