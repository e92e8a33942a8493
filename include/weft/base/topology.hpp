#pragma once

#include <sched.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/cpu_quota.hpp>

namespace weft::base {

/// Reads the affinity mask of the calling thread, as sched_getaffinity does: 0, or -1 and errno;
/// EINVAL means that the mask has more CPUs than `bytes` can hold.
using affinity_reader = int (*)(std::size_t bytes, cpu_set_t* mask);

/// Where the limits of this process are read from. The defaults are the running system; tests put a
/// directory and a function of their own in their place.
struct system_root {
  std::string root = "/";              ///< /proc and the cgroup mounts are looked up below this.
  affinity_reader affinity = nullptr;  ///< nullptr asks the kernel.
};

/// How many CPUs this process may keep busy, and what says so.
struct cpu_limit {
  unsigned affinity = 1;          ///< CPUs in the affinity mask; a cpuset shows here too.
  std::optional<unsigned> quota;  ///< Tightest cgroup quota in whole CPUs, rounded up, if any.
  std::vector<cpu_quota> quotas;  ///< Every cgroup quota that binds, exact, nearest group first.

  /// The smaller of the two, at least 1.
  [[nodiscard]] unsigned usable() const noexcept;
};

/// Reads the affinity mask and the CPU quota of the cgroup of this process and of every ancestor
/// that is visible, in cgroup v1, v2 and hybrid layouts.
///
/// A quota of 1.5 CPUs counts as 2: with one worker the half would never be used.
/// Blocks: reads a few files of /proc and of the cgroup mounts.
/// Errors: none. What is missing or makes no sense limits nothing.
[[nodiscard]] cpu_limit read_cpu_limit(const system_root& root = {});

/// read_cpu_limit(root).usable()
[[nodiscard]] unsigned usable_cpus(const system_root& root = {});

/// What parse_worker_count() found: a count, or else a message for the user.
struct parsed_worker_count {
  std::optional<unsigned> count;
  std::string error;
};

/// Reads the value of the environment variable WEFT_WORKERS: a whole number between 1 and `max`,
/// decimal digits only.
[[nodiscard]] parsed_worker_count parse_worker_count(std::string_view text, unsigned max);

}  // namespace weft::base
