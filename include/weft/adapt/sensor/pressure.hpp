#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <weft/adapt/sensed.hpp>

namespace weft::adapt {

// Pressure stall information: how much time tasks lose because they wait for a resource.
// https://docs.kernel.org/accounting/psi.html

enum class pressure_resource : std::uint8_t { cpu, memory, io };

struct pressure_sensor_options {
  std::string root = "/";  // /proc and the cgroup mounts are below this
};

struct stall {
  double avg10 = 0;  // share of the last 10 seconds, 0 to 1
  double avg60 = 0;  // of the last minute
  std::chrono::microseconds total{0};
};

struct resource_pressure {
  sensed<stall> some;  // at least one task waited
  // All tasks waited at once. The kernel has no such thing for the CPUs of a whole machine, and
  // writes zeros there: they are not available.
  sensed<stall> full;
  std::string source;  // the file
};

struct pressure_reading {
  // In the cgroup of this process, or in the nearest ancestor that tells, or else on the machine.
  resource_pressure cpu = {};
  resource_pressure memory = {};
  resource_pressure io = {};
  // On the machine.
  resource_pressure machine_cpu = {};
  resource_pressure machine_memory = {};
  resource_pressure machine_io = {};
};

// Reads how much this process and the machine wait.
//
// Threads: any. Blocks: reads files of /proc and of the cgroup mounts. Errors: none.
class pressure_sensor {
 public:
  explicit pressure_sensor(pressure_sensor_options options = {});

  [[nodiscard]] pressure_reading read() const;

 private:
  std::string root_;
};

struct pressure_trigger_options {
  std::string root = "/";
  pressure_resource resource = pressure_resource::memory;
  // It fires when tasks waited `stall_time` within `window`. Without special rights the kernel
  // takes only windows that are multiples of 2 s.
  std::chrono::microseconds stall_time{300'000};
  std::chrono::microseconds window{2'000'000};
};

// Something to poll that wakes as soon as there is pressure, at most once per window, so that
// nobody has to sample often to notice early.
//
// Lifetime: the descriptor is open as long as the object.
class pressure_trigger {
 public:
  // Not available where the kernel refuses, with what it said.
  // Errors: std::invalid_argument for a window outside 500 ms to 10 s, or a stall time that does
  // not fit into it.
  [[nodiscard]] static sensed<pressure_trigger> open(const pressure_trigger_options& options);

  pressure_trigger(pressure_trigger&& other) noexcept;
  pressure_trigger& operator=(pressure_trigger&& other) noexcept;
  ~pressure_trigger();

  // Poll it for POLLPRI. POLLERR means that the cgroup is gone: open another one.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  // The file whose pressure it watches.
  [[nodiscard]] const std::string& source() const noexcept { return source_; }

 private:
  pressure_trigger(int descriptor, std::string source) noexcept;

  int descriptor_ = -1;
  std::string source_;
};

}  // namespace weft::adapt
