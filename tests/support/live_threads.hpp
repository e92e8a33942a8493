#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace weft::test {

// Whether a thread is on its way out, by the line that the kernel gives of it: proc(5), field 9.
inline bool is_exiting(const std::string& stat) {
  constexpr unsigned long exiting = 0x4;  // PF_EXITING
  // The name, in brackets, may hold spaces. Behind it: state, parent, group, session, terminal, its
  // group, flags.
  std::istringstream rest(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  unsigned long flags = 0;
  for (int i = 0; i < 6; ++i) rest >> skipped;
  rest >> flags;
  return (flags & exiting) != 0;
}

// How many threads this process has. One that was joined may be listed for a moment longer, but is
// marked as exiting before whoever joins it is told.
inline std::size_t live_threads() {
  std::size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string line;
    std::ifstream stat(thread.path() / "stat");
    if (std::getline(stat, line) && !is_exiting(line)) ++count;
  }
  return count;
}

}  // namespace weft::test
