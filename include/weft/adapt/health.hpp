#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/adapt/sensed.hpp>
#include <weft/adapt/sensor/cpu.hpp>
#include <weft/adapt/sensor/disk.hpp>
#include <weft/adapt/sensor/memory.hpp>
#include <weft/adapt/sensor/pressure.hpp>
#include <weft/adapt/time_point.hpp>

// How well a machine is, from 0 to 100: 0-33 is critical, 34-66 a warning, 67-100 safe.
//
// Each signal has a health of its own, and the least of them is the score: a mean would hide that
// memory is running out behind idle CPUs. Of memory and of pressure the worse counts, that of the
// own control group or that of the machine. This file decides and has no clock, lock or file;
// machine_health owns the sensors.

namespace weft::adapt {

// --- From a load to a health -------------------------------------------------------------------

// The loads at which a signal becomes a warning, becomes critical, and could not be worse.
struct load_scale {
  double warning = 0;
  double critical = 0;
  double zero = 0;
  double floor = 0;  // the health never falls below this
};

// 1 without load, .66 at `warning`, .33 at `critical`, 0 at `zero`, straight lines between them,
// and never below `floor`.
[[nodiscard]] double health_of_load(double load, const load_scale& scale) noexcept;

// --- Signals -----------------------------------------------------------------------------------

namespace health_signal {
inline constexpr std::string_view memory_used = "memory_used";
inline constexpr std::string_view memory_pressure = "memory_pressure";
inline constexpr std::string_view oom_kill = "oom_kill";
inline constexpr std::string_view cpu_pressure = "cpu_pressure";
inline constexpr std::string_view load_average = "load_average";
inline constexpr std::string_view cpu_throttled = "cpu_throttled";
inline constexpr std::string_view cpu_used = "cpu_used";
inline constexpr std::string_view io_pressure = "io_pressure";
inline constexpr std::string_view disk_used = "disk_used";
}  // namespace health_signal

// What somebody else knows, such as the service that sees how long its commits take. A load becomes
// a score by 100 * health_of_load(load, scale).
struct external_signal {
  std::string name = {};
  double score = 100;                           // 0 to 100
  std::chrono::milliseconds valid_for{30'000};  // to a year; silence beyond this says nothing
};

struct pushed_signal {
  external_signal signal;
  time_point at;
};

struct health_readings {
  cpu_reading cpu;
  memory_reading memory;
  pressure_reading pressure;
  sensed<disk_space> disk;
  std::vector<pushed_signal> external;
};

// --- Settings ----------------------------------------------------------------------------------

struct health_config {
  load_scale memory_used{.warning = .80, .critical = .92, .zero = .98};
  load_scale memory_pressure{.warning = .05, .critical = .20, .zero = .40};
  load_scale cpu_pressure{.warning = .40, .critical = .85, .zero = 1.00, .floor = .20};
  // Stands in for the pressure where the kernel does not tell it.
  load_scale load_average{.warning = 1.5, .critical = 3, .zero = 6, .floor = .20};
  load_scale cpu_throttled{.warning = .25, .critical = .60, .zero = .95};
  // Never critical: a busy CPU is what workers are for.
  load_scale cpu_used{.warning = .95, .critical = 1.00, .zero = 1.05, .floor = .40};
  load_scale io_pressure{.warning = .30, .critical = .70, .zero = .95};
  // A disk has to satisfy both: a share of its size, and room in bytes.
  load_scale disk_used{.warning = .90, .critical = .97, .zero = 1.00};
  std::uint64_t disk_free_warning = std::uint64_t{1} << 30;
  std::uint64_t disk_free_critical = std::uint64_t{256} << 20;
  std::uint64_t disk_free_zero = std::uint64_t{64} << 20;

  // Up to a year each.
  std::chrono::milliseconds rise_half_life{10'000};
  std::chrono::milliseconds oom_kill_hold{
      60'000};  // critical for so long after a kill; 0 ignores it
};

// Errors: std::invalid_argument with the field and what is allowed.
void validate(const health_config& config);

// --- The score ---------------------------------------------------------------------------------

struct health_component {
  std::string signal;
  double load = 0;     // what its scale is about; for external signals how much is missing to 1
  double health = 1;   // 0 to 1
  std::string detail;  // where it was seen, or what kept it from being critical
};

struct missing_signal {
  std::string signal;
  std::string reason;
};

struct health_report {
  sensed<int> score;  // 0 to 100; falls at once and rises slowly
  // The signal that keeps the score where it is. While the score recovers, the one that pulled it
  // down.
  std::string limiting;
  bool recovering = false;  // every signal is better than the score by now
  std::vector<health_component> components;
  std::vector<missing_signal> missing;  // left out of the score, and why
};

// What the next score needs to know about the past.
struct health_state {
  std::optional<double> score;  // 0 to 100
  std::string limiting;
  time_point at;
  std::optional<std::uint64_t> oom_kills;
  std::optional<time_point> oom_kill_seen;
};

struct health_step {
  health_state state;
  health_report report;
};

// One score from one set of readings. There is none, with the reason, unless the memory and at
// least one other signal of the machine could be read.
[[nodiscard]] health_step step(const health_state& state, const health_config& config,
                               const health_readings& readings, time_point now);

}  // namespace weft::adapt
