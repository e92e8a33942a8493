#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/adapt/sensed.hpp>

namespace weft::adapt {

struct gpu_sensor_options {
  std::string root = "/";                          // /sys is below this
  std::string nvml_library = "libnvidia-ml.so.1";  // NVIDIA's management library
};

struct gpu_memory {
  std::uint64_t used = 0;   // bytes
  std::uint64_t total = 0;  // bytes

  [[nodiscard]] double share() const noexcept;
};

struct gpu_device {
  std::string name;
  sensed<gpu_memory> memory;   // used by everyone, not only by this process
  sensed<double> utilisation;  // 0 to 1
};

// Every device that this process can see, NVIDIA's first, each kind in its driver's order. Never
// empty: a machine without devices has no reading.
using gpu_reading = sensed<std::vector<gpu_device>>;

// Reads how full and how busy the GPUs are: NVIDIA's through NVML, which is opened when the sensor
// is made and is no dependency; AMD's through /sys.
//
// Threads: one at a time. Blocks: asks the driver. Errors: none.
class gpu_sensor {
 public:
  explicit gpu_sensor(gpu_sensor_options options = {});
  ~gpu_sensor();
  gpu_sensor(gpu_sensor&&) noexcept;
  gpu_sensor& operator=(gpu_sensor&&) noexcept;

  [[nodiscard]] gpu_reading read() const;

 private:
  class nvml;

  std::string root_;
  std::unique_ptr<nvml> nvml_;
};

// The device whose memory is fullest: the one that runs out first.
[[nodiscard]] sensed<gpu_device> worst_device(const gpu_reading& reading);

[[nodiscard]] sensed<gpu_device> device_at(const gpu_reading& reading, std::size_t index);

}  // namespace weft::adapt
