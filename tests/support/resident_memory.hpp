#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace weft::test {

// Resident memory of this process.
inline std::size_t resident_kib() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

}  // namespace weft::test
