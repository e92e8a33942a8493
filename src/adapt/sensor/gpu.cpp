#include <weft/adapt/sensor/gpu.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "adapt/sensor/source.hpp"
#include "base/text.hpp"

namespace weft::adapt {
namespace {

// --- The part of NVML that is used, as in nvml.h -----------------------------------------------

using nvml_device = struct nvml_device_data*;
struct nvml_memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct nvml_utilisation {
  unsigned gpu;
  unsigned memory;
};
struct nvml_functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, nvml_device*) = nullptr;
  int (*name)(nvml_device, char*, unsigned) = nullptr;
  int (*memory)(nvml_device, nvml_memory*) = nullptr;
  int (*utilisation)(nvml_device, nvml_utilisation*) = nullptr;
};
constexpr int nvml_success = 0;

// --- AMD ---------------------------------------------------------------------------------------

// The number of "card12"; nothing for its outputs, "card12-DP-1", and for other files.
std::optional<unsigned> card_number(std::string_view name) {
  if (!name.starts_with("card")) return std::nullopt;
  return base::parse_whole<unsigned>(name.substr(4));
}

std::vector<unsigned> find_cards(const std::string& directory) {
  std::vector<unsigned> cards;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const auto card = card_number(entry->path().filename().native())) cards.push_back(*card);
  }
  std::sort(cards.begin(), cards.end());
  return cards;
}

sensed<gpu_memory> read_amd_memory(const std::string& device) {
  const auto used = detail::read_number(device + "/mem_info_vram_used");
  const auto total = detail::read_number(device + "/mem_info_vram_total");
  if (!used || !total) return unavailable{used ? total.reason() : used.reason()};
  if (*total == 0) return unavailable{"the device has no memory of its own"};
  return gpu_memory{*used, *total};
}

sensed<double> read_amd_utilisation(const std::string& device) {
  const std::string path = device + "/gpu_busy_percent";
  const auto busy = detail::read_number(path);
  if (!busy) return unavailable{busy.reason()};
  if (*busy > 100) return detail::makes_no_sense(path);
  return static_cast<double>(*busy) / 100;
}

void append_amd_devices(const std::string& root, std::vector<gpu_device>& devices) {
  const std::string directory = root + "/sys/class/drm";
  for (const unsigned card : find_cards(directory)) {
    const std::string name = "card" + std::to_string(card);
    const std::string device = directory + "/" + name + "/device";
    std::error_code error;
    // Other drivers do not have this file.
    if (!std::filesystem::exists(device + "/mem_info_vram_total", error)) continue;
    devices.push_back({name, read_amd_memory(device), read_amd_utilisation(device)});
  }
}

}  // namespace

// --- NVIDIA ------------------------------------------------------------------------------------

// The library, opened and initialised, or why it is not.
class gpu_sensor::nvml {
 public:
  explicit nvml(const std::string& library) {
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      problem_ = last_problem("cannot open " + library);
    } else if (!find_functions()) {
      problem_ = last_problem(library + " is not the library expected");
    } else if (const int result = call_.init(); result != nvml_success) {
      problem_ = "NVML does not start: " + text_of(result);
    } else {
      started_ = true;
    }
  }

  ~nvml() {
    if (started_) call_.shutdown();
    if (handle_ != nullptr) dlclose(handle_);
  }
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  // Returns why there are no devices to append; empty when there are.
  [[nodiscard]] std::string append_devices(std::vector<gpu_device>& devices) const {
    if (!started_) return problem_;
    unsigned count = 0;
    const int result = call_.count(&count);
    if (result != nvml_success) return "NVML does not count devices: " + text_of(result);
    if (count == 0) return "NVML knows no device";
    for (unsigned index = 0; index < count; ++index) devices.push_back(read_device(index));
    return {};
  }

 private:
  template <class Function>
  [[nodiscard]] bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function != nullptr;
  }

  [[nodiscard]] bool find_functions() {
    return find(call_.init, "nvmlInit_v2") && find(call_.shutdown, "nvmlShutdown") &&
           find(call_.error_string, "nvmlErrorString") &&
           find(call_.count, "nvmlDeviceGetCount_v2") &&
           find(call_.handle, "nvmlDeviceGetHandleByIndex_v2") &&
           find(call_.name, "nvmlDeviceGetName") && find(call_.memory, "nvmlDeviceGetMemoryInfo") &&
           find(call_.utilisation, "nvmlDeviceGetUtilizationRates");
  }

  static std::string last_problem(const std::string& what) {
    const char* const why = dlerror();
    return why == nullptr ? what : what + ": " + why;
  }

  [[nodiscard]] std::string text_of(int result) const {
    const char* const text = call_.error_string(result);
    return text != nullptr ? text : "error " + std::to_string(result);
  }

  [[nodiscard]] gpu_device read_device(unsigned index) const {
    nvml_device device = nullptr;
    const int result = call_.handle(index, &device);
    if (result != nvml_success) {
      const unavailable why{"NVML has no access to the device: " + text_of(result)};
      return {"GPU " + std::to_string(index), why, why};
    }
    return {name_of(device, index), memory_of(device), utilisation_of(device)};
  }

  [[nodiscard]] std::string name_of(nvml_device device, unsigned index) const {
    std::array<char, 96> name{};  // as long as NVML asks for
    const int result = call_.name(device, name.data(), static_cast<unsigned>(name.size() - 1));
    return result == nvml_success ? name.data() : "GPU " + std::to_string(index);
  }

  [[nodiscard]] sensed<gpu_memory> memory_of(nvml_device device) const {
    nvml_memory memory{};
    const int result = call_.memory(device, &memory);
    if (result != nvml_success) return unavailable{"NVML: " + text_of(result)};
    if (memory.total == 0) return unavailable{"the device has no memory of its own"};
    return gpu_memory{memory.used, memory.total};
  }

  [[nodiscard]] sensed<double> utilisation_of(nvml_device device) const {
    nvml_utilisation utilisation{};
    const int result = call_.utilisation(device, &utilisation);
    if (result != nvml_success) return unavailable{"NVML: " + text_of(result)};
    if (utilisation.gpu > 100) return unavailable{"NVML: more than 100 % busy makes no sense"};
    return static_cast<double>(utilisation.gpu) / 100;
  }

  void* handle_ = nullptr;
  nvml_functions call_;
  bool started_ = false;
  std::string problem_;
};

double gpu_memory::share() const noexcept {
  return total == 0 ? 1.0 : static_cast<double>(used) / static_cast<double>(total);
}

gpu_sensor::gpu_sensor(gpu_sensor_options options)
    : root_(base::without_trailing_slashes(std::move(options.root))),
      nvml_(std::make_unique<nvml>(options.nvml_library)) {}

gpu_sensor::~gpu_sensor() = default;
gpu_sensor::gpu_sensor(gpu_sensor&&) noexcept = default;
gpu_sensor& gpu_sensor::operator=(gpu_sensor&&) noexcept = default;

gpu_reading gpu_sensor::read() const {
  std::vector<gpu_device> devices;
  const std::string without_nvidia = nvml_->append_devices(devices);
  append_amd_devices(root_, devices);
  if (!devices.empty()) return devices;
  return unavailable{"no GPU: " + without_nvidia + "; no AMD device in " + root_ +
                     "/sys/class/drm"};
}

sensed<gpu_device> worst_device(const gpu_reading& reading) {
  if (!reading) return unavailable{reading.reason()};
  const gpu_device* worst = nullptr;
  for (const gpu_device& device : *reading) {
    if (!device.memory) continue;
    if (worst == nullptr || device.memory->share() > worst->memory->share()) worst = &device;
  }
  if (worst == nullptr) {
    return unavailable{"no device tells its memory: " + reading->front().memory.reason()};
  }
  return *worst;
}

sensed<gpu_device> device_at(const gpu_reading& reading, std::size_t index) {
  if (!reading) return unavailable{reading.reason()};
  if (index >= reading->size()) {
    return unavailable{"no device " + std::to_string(index) + " among " +
                       std::to_string(reading->size())};
  }
  return (*reading)[index];
}

}  // namespace weft::adapt
