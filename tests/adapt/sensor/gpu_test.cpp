#include <weft/adapt/sensor/gpu.hpp>

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapt/fake_machine.hpp"
#include "adapt/sensor/fake_nvml.hpp"

namespace weft::adapt {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// The fake library, kept open so that a test can say what it tells.
class fake_nvml {
 public:
  fake_nvml() : handle_(dlopen(WEFT_FAKE_NVML, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    const auto state =
        reinterpret_cast<fake_nvml_settings* (*)()>(dlsym(handle_, "fake_nvml_state"));
    if (state == nullptr) throw std::runtime_error(dlerror());
    settings_ = state();
    *settings_ = {};
  }
  ~fake_nvml() { dlclose(handle_); }
  fake_nvml(const fake_nvml&) = delete;
  fake_nvml& operator=(const fake_nvml&) = delete;

  fake_nvml_settings* operator->() { return settings_; }

 private:
  void* handle_;
  fake_nvml_settings* settings_ = nullptr;
};

class GpuSensor : public ::testing::Test {
 protected:
  [[nodiscard]] gpu_sensor make(const std::string& library = WEFT_FAKE_NVML) const {
    return gpu_sensor({.root = machine_.root(), .nvml_library = library});
  }
  void write_amd(const std::string& card, const std::string& used, const std::string& total,
                 const std::string& busy) {
    const std::string device = "sys/class/drm/" + card + "/device";
    machine_.write(device + "/mem_info_vram_used", used + "\n");
    machine_.write(device + "/mem_info_vram_total", total + "\n");
    machine_.write(device + "/gpu_busy_percent", busy + "\n");
  }

  test::fake_machine machine_;
  fake_nvml nvml_;
};

const std::string no_library = "libweft-there-is-no-such-library.so";

// --- NVIDIA ------------------------------------------------------------------------------------

TEST_F(GpuSensor, NvidiaDevicesTellMemoryAndUtilisation) {
  const auto reading = make().read();
  ASSERT_TRUE(reading) << reading.reason();
  ASSERT_EQ(reading->size(), 2U);
  const gpu_device& second = (*reading)[1];
  EXPECT_EQ(second.name, "Fake 1");
  EXPECT_DOUBLE_EQ(second.memory->share(), 0.75);
  EXPECT_EQ(second.memory->total, std::uint64_t{8} << 30);
  EXPECT_DOUBLE_EQ(*second.utilisation, 0.4);
}

TEST_F(GpuSensor, WithoutTheLibraryThereIsNoSignal) {
  const auto reading = make(no_library).read();
  ASSERT_FALSE(reading);
  EXPECT_THAT(reading.reason(), HasSubstr("cannot open " + no_library));
  EXPECT_THAT(reading.reason(), HasSubstr("no AMD device"));
}

TEST_F(GpuSensor, ALibraryWithoutAFunctionIsNotUsed) {
  const auto reading = make(WEFT_FAKE_NVML_INCOMPLETE).read();
  EXPECT_THAT(reading.reason(), HasSubstr("nvmlDeviceGetMemoryInfo"));
}

TEST_F(GpuSensor, ALibraryThatDoesNotStartSaysWhy) {
  nvml_->init = 9;
  const auto reading = make().read();
  EXPECT_THAT(reading.reason(), HasSubstr("NVML does not start: Driver Not Loaded"));
  EXPECT_EQ(nvml_->running, 0);
}

TEST_F(GpuSensor, AResultWithoutTextIsShownAsANumber) {
  nvml_->init = 999;
  EXPECT_THAT(make().read().reason(), HasSubstr("error 999"));
}

TEST_F(GpuSensor, CountingThatFailsOrFindsNothingIsNoReading) {
  const auto sensor = make();
  nvml_->count = 15;
  EXPECT_THAT(sensor.read().reason(), HasSubstr("does not count devices: GPU is lost"));
  nvml_->count = 0;
  nvml_->devices = 0;
  EXPECT_THAT(sensor.read().reason(), HasSubstr("NVML knows no device"));
}

TEST_F(GpuSensor, ADeviceThatIsLostBetweenReadingsIsListedWithoutValues) {
  const auto sensor = make();
  EXPECT_TRUE(device_at(sensor.read(), 0)->memory);
  nvml_->handle = 15;
  const auto lost = device_at(sensor.read(), 0);
  EXPECT_EQ(lost->name, "GPU 0");
  EXPECT_THAT(lost->memory.reason(), HasSubstr("GPU is lost"));
  EXPECT_THAT(lost->utilisation.reason(), HasSubstr("GPU is lost"));
}

TEST_F(GpuSensor, EachValueMayFailAlone) {
  const auto sensor = make();
  nvml_->utilisation = 3;
  auto device = device_at(sensor.read(), 0);
  EXPECT_TRUE(device->memory);
  EXPECT_EQ(device->utilisation.reason(), "NVML: Driver Not Loaded");
  nvml_->utilisation = 0;
  nvml_->memory = 3;
  nvml_->name = 3;
  device = device_at(sensor.read(), 0);
  EXPECT_FALSE(device->memory);
  EXPECT_TRUE(device->utilisation);
  EXPECT_EQ(device->name, "GPU 0");
}

TEST_F(GpuSensor, MoreThanBusyMakesNoSense) {
  nvml_->busy_percent = 101;
  EXPECT_THAT(device_at(make().read(), 0)->utilisation.reason(), HasSubstr("makes no sense"));
}

TEST_F(GpuSensor, TheLibraryIsShutDownOnceForEveryStart) {
  {
    auto first = make();
    EXPECT_EQ(nvml_->running, 1);
    const auto moved = std::move(first);
    EXPECT_EQ(nvml_->running, 1);
    const auto second = make();
    EXPECT_EQ(nvml_->running, 2);
  }
  EXPECT_EQ(nvml_->running, 0);
}

// --- AMD ---------------------------------------------------------------------------------------

TEST_F(GpuSensor, AmdDevicesAreReadFromSysInTheOrderOfTheirNumbers) {
  write_amd("card10", "10", "100", "5");
  write_amd("card2", "20", "100", "50");
  const auto reading = make(no_library).read();
  ASSERT_TRUE(reading) << reading.reason();
  ASSERT_EQ(reading->size(), 2U);
  EXPECT_EQ((*reading)[0].name, "card2");
  EXPECT_DOUBLE_EQ((*reading)[0].memory->share(), 0.2);
  EXPECT_DOUBLE_EQ(*(*reading)[0].utilisation, 0.5);
  EXPECT_EQ((*reading)[1].name, "card10");
}

TEST_F(GpuSensor, OutputsAndOtherDriversAreNoDevices) {
  write_amd("card0-DP-1", "1", "2", "3");
  write_amd("renderD128", "1", "2", "3");
  machine_.write("sys/class/drm/card1/device/vendor", "0x8086\n");
  EXPECT_FALSE(make(no_library).read());
}

TEST_F(GpuSensor, AmdValuesThatMakeNoSenseAreLeftOutOneByOne) {
  write_amd("card0", "many", "100", "50");
  write_amd("card1", "1", "0", "101");
  const auto sensor = make(no_library);
  EXPECT_THAT(device_at(sensor.read(), 0)->memory.reason(), EndsWith("vram_used makes no sense"));
  EXPECT_TRUE(device_at(sensor.read(), 0)->utilisation);
  EXPECT_FALSE(device_at(sensor.read(), 1)->memory);
  EXPECT_FALSE(device_at(sensor.read(), 1)->utilisation);
  machine_.remove("sys/class/drm/card0/device/gpu_busy_percent");
  EXPECT_THAT(device_at(sensor.read(), 0)->utilisation.reason(), HasSubstr("No such file"));
}

TEST_F(GpuSensor, BothKindsAreListedTogether) {
  write_amd("card0", "90", "100", "5");
  const auto reading = make().read();
  ASSERT_EQ(reading->size(), 3U);
  EXPECT_EQ((*reading)[2].name, "card0");
}

// --- Which device ------------------------------------------------------------------------------

TEST_F(GpuSensor, TheWorstDeviceIsTheFullest) {
  EXPECT_EQ(worst_device(make().read())->name, "Fake 1");
  write_amd("card0", "90", "100", "5");
  EXPECT_EQ(worst_device(make().read())->name, "card0");
}

TEST_F(GpuSensor, DevicesThatDoNotTellTheirMemoryAreNotTheWorst) {
  write_amd("card0", "1", "100", "5");
  nvml_->memory = 3;
  EXPECT_EQ(worst_device(make().read())->name, "card0");
  machine_.remove("sys");
  EXPECT_THAT(worst_device(make().read()).reason(), HasSubstr("no device tells its memory"));
}

TEST_F(GpuSensor, ADeviceIsFoundByIndex) {
  EXPECT_EQ(device_at(make().read(), 1)->name, "Fake 1");
  EXPECT_EQ(device_at(make().read(), 2).reason(), "no device 2 among 2");
}

TEST_F(GpuSensor, NoReadingHasNoDevices) {
  const auto reading = make(no_library).read();
  EXPECT_EQ(worst_device(reading).reason(), reading.reason());
  EXPECT_EQ(device_at(reading, 0).reason(), reading.reason());
}

// --- The running system ------------------------------------------------------------------------

TEST(GpuSensorLive, EveryDeviceIsPlausibleOrThereIsAReason) {
  const auto reading = gpu_sensor().read();
  if (!reading) {
    EXPECT_THAT(reading.reason(), HasSubstr("no GPU: "));
    return;
  }
  for (const gpu_device& device : *reading) {
    EXPECT_FALSE(device.name.empty());
    if (device.memory) {
      EXPECT_LE(device.memory->used, device.memory->total);
    }
    if (device.utilisation) {
      EXPECT_LE(*device.utilisation, 1.0);
    }
  }
}

}  // namespace
}  // namespace weft::adapt
