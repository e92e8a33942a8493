#pragma once

// What the fake NVML tells; a test changes it through fake_nvml_state().
struct fake_nvml_settings {
  int init = 0;  // results: 0 is success
  int count = 0;
  int handle = 0;
  int name = 0;
  int memory = 0;
  int utilisation = 0;
  unsigned devices = 2;
  unsigned busy_percent = 40;
  int running = 0;  // how often it was started and not shut down
};

extern "C" fake_nvml_settings* fake_nvml_state();
