// The bare loop with a thread for each command in flight: two starts may happen at the same time.
//
//   batch_true_threads COUNT IN_FLIGHT PROGRAM

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../support/options.hpp"

namespace {

void run(char* program) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) bench::fail("pipe2 failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::array<char*, 2> arguments{program, nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, program, &actions, nullptr, arguments.data(), environ) != 0) {
    bench::fail("posix_spawn failed");
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::array<char, 4096> text{};
  while (read(ends[0], text.data(), text.size()) > 0) {
  }
  close(ends[0]);
  int status = 0;
  rusage used{};
  if (wait4(pid, &status, 0, &used) != pid || status != 0) bench::fail("the command failed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) bench::fail("usage: COUNT IN_FLIGHT PROGRAM");
  const int count = std::atoi(argv[1]);
  const int in_flight = std::atoi(argv[2]);
  std::vector<std::jthread> slots;
  for (int slot = 0; slot < in_flight; ++slot) {
    slots.emplace_back([=] {
      for (int i = slot; i < count; i += in_flight) run(argv[3]);
    });
  }
}
