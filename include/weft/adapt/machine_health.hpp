#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/adapt/health.hpp>

namespace weft::adapt {

struct machine_health_options {
  std::string root = "/";                    // /proc, /sys and the cgroup mounts are below this
  base::affinity_reader affinity = nullptr;  // nullptr asks the kernel
  std::string disk_path = {};                // where data is written; empty watches no disk
  health_config config = {};
};

// Watches the machine and scores it.
//
//   weft::adapt::machine_health health({.disk_path = "/var/lib/jobs"});
//   auto report = health.read(std::chrono::steady_clock::now());
//
// Threads: read() one at a time, push() and withdraw() any. Blocks: read() reads some dozens of
// small files. Errors: std::invalid_argument for settings and signals that make no sense; reading
// has none.
class machine_health {
 public:
  static constexpr std::size_t most_external_signals = 64;

  explicit machine_health(const machine_health_options& options = {});

  [[nodiscard]] health_report read(time_point now);

  // Takes the place of the signal that was pushed under the same name.
  void push(external_signal signal, time_point now);
  void withdraw(std::string_view name);

 private:
  health_config config_;
  cpu_sensor cpu_;
  memory_sensor memory_;
  pressure_sensor pressure_;
  std::optional<disk_sensor> disk_;
  health_state state_;

  std::mutex mutex_;
  std::vector<pushed_signal> external_;  // guarded by mutex_
};

}  // namespace weft::adapt
