#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <weft/base/cgroup.hpp>

namespace weft::base {

/// How much CPU time a control group may use: `quota` in every `period`.
struct cpu_quota {
  std::chrono::microseconds quota{0};
  std::chrono::microseconds period{0};
  cgroup group;

  /// In CPUs: 150 ms every 100 ms are 1.5.
  [[nodiscard]] double cpus() const noexcept;
  /// Rounded up: with one worker the half of 1.5 CPUs would never be used.
  [[nodiscard]] unsigned whole_cpus() const noexcept;
};

/// The quotas of the cgroup of this process and of every ancestor that is visible, nearest first.
///
/// `root`: /proc and the cgroup mounts are looked up below this directory.
/// Blocks: reads a few files of /proc and of the cgroup mounts.
/// Errors: none. What is missing or makes no sense limits nothing.
[[nodiscard]] std::vector<cpu_quota> read_cpu_quotas(const std::string& root = "/");

/// The one that allows the fewest CPUs, or nullptr.
[[nodiscard]] const cpu_quota* tightest(const std::vector<cpu_quota>& quotas) noexcept;

}  // namespace weft::base
