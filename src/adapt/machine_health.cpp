#include <weft/adapt/machine_health.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "adapt/validate.hpp"

namespace weft::adapt {
namespace {

constexpr std::array own_names{
    health_signal::memory_used,  health_signal::memory_pressure, health_signal::oom_kill,
    health_signal::cpu_pressure, health_signal::load_average,    health_signal::cpu_throttled,
    health_signal::cpu_used,     health_signal::io_pressure,     health_signal::disk_used,
};

health_config validated(const health_config& config) {
  validate(config);
  return config;
}

void check(const external_signal& signal) {
  if (signal.name.empty()) throw std::invalid_argument("external_signal.name must not be empty");
  if (std::find(own_names.begin(), own_names.end(), signal.name) != own_names.end()) {
    throw std::invalid_argument("external_signal.name must not be " + signal.name +
                                ", which the machine's own signal has");
  }
  require_within("external_signal.score", signal.score, 0.0, 100.0);
  require_time("external_signal.valid_for", signal.valid_for, 1);
}

}  // namespace

machine_health::machine_health(const machine_health_options& options)
    : config_(validated(options.config)),
      cpu_({.root = options.root, .affinity = options.affinity}),
      memory_({.root = options.root}),
      pressure_({.root = options.root}) {
  if (!options.disk_path.empty()) disk_.emplace(disk_sensor_options{.path = options.disk_path});
}

health_report machine_health::read(time_point now) {
  health_readings readings{.cpu = cpu_.read(now),
                           .memory = memory_.read(),
                           .pressure = pressure_.read(),
                           .disk = unavailable{"no disk to watch was named"},
                           .external = {}};
  if (disk_) readings.disk = disk_->read();
  {
    const std::lock_guard lock(mutex_);
    readings.external = external_;
  }
  health_step next = step(state_, config_, readings, now);
  state_ = std::move(next.state);
  return std::move(next.report);
}

void machine_health::push(external_signal signal, time_point now) {
  check(signal);
  const std::lock_guard lock(mutex_);
  const auto same =
      std::find_if(external_.begin(), external_.end(),
                   [&](const pushed_signal& pushed) { return pushed.signal.name == signal.name; });
  if (same != external_.end()) {
    *same = {std::move(signal), now};
  } else if (external_.size() < most_external_signals) {
    external_.push_back({std::move(signal), now});
  } else {
    throw std::invalid_argument("external_signal.name: there are " +
                                std::to_string(most_external_signals) +
                                " already, which is the most; withdraw one");
  }
}

void machine_health::withdraw(std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(external_, [&](const pushed_signal& pushed) { return pushed.signal.name == name; });
}

}  // namespace weft::adapt
