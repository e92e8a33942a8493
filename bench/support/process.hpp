#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "options.hpp"

namespace bench {

// Sum of the numbers behind "<key>:" in a /proc file, 0 when the file or the key is not there.
inline long sum_of(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in(file);
  long sum = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key + ':')) sum += std::strtol(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return sum;
}

// Context switches so far of every thread but the main one, which sleeps and reads these files.
inline long worker_context_switches() {
  const auto main_thread = std::to_string(getpid());
  long switches = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == main_thread) continue;
    switches += sum_of(task.path() / "status", "voluntary_ctxt_switches");
    switches += sum_of(task.path() / "status", "nonvoluntary_ctxt_switches");
  }
  return switches;
}

// The rollup is exact; the figure in statm lags behind by some pages per thread.
inline long resident_kb() { return sum_of("/proc/self/smaps_rollup", "Rss"); }

// Runs `body`, which returns a number, in a forked child. The caller must be single-threaded.
template <class Body>
long in_child(Body&& body) {
  int ends[2];
  if (pipe(ends) != 0) fail("pipe failed");
  const pid_t child = fork();
  if (child < 0) fail("fork failed");
  if (child == 0) {
    const long value = body();
    _exit(write(ends[1], &value, sizeof value) == sizeof value ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  long value = 0;
  if (read(ends[0], &value, sizeof value) != sizeof value) fail("the measured child process died");
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return value;
}

}  // namespace bench
