// Stands for libnvidia-ml.so.1: device 0 has used 1 of 8 GiB, device 1 has used 6 of 8.

#include "fake_nvml.hpp"

#include <cstdint>
#include <cstdio>

namespace {

fake_nvml_settings state;

struct memory_info {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct utilisation_info {
  unsigned gpu;
  unsigned memory;
};

// A device is its index plus one, so that none is null.
unsigned index_of(void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

}  // namespace

extern "C" {

fake_nvml_settings* fake_nvml_state() { return &state; }

int nvmlInit_v2() {
  if (state.init == 0) ++state.running;
  return state.init;
}

int nvmlShutdown() {
  --state.running;
  return 0;
}

const char* nvmlErrorString(int result) {
  return result == 15 ? "GPU is lost" : result == 999 ? nullptr : "Driver Not Loaded";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = state.devices;
  return state.count;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return state.handle;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::snprintf(name, length, "Fake %u", index_of(device));
  return state.name;
}

#ifndef FAKE_NVML_WITHOUT_MEMORY
int nvmlDeviceGetMemoryInfo(void* device, memory_info* memory) {
  constexpr unsigned long long gib = 1ULL << 30;
  memory->total = 8 * gib;
  memory->used = (index_of(device) == 0 ? 1 : 6) * gib;
  memory->free = memory->total - memory->used;
  return state.memory;
}
#endif

int nvmlDeviceGetUtilizationRates(void*, utilisation_info* utilisation) {
  utilisation->gpu = state.busy_percent;
  utilisation->memory = 1;
  return state.utilisation;
}
}
