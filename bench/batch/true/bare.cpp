// What starting commands costs one thread at least: so many in flight, each with a pipe for its
// output, read until its end, waited for with what it has used. Nothing is remembered and nobody is
// on watch.
//
//   batch_true_bare COUNT IN_FLIGHT PROGRAM

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "../../support/options.hpp"

namespace {

struct running {
  pid_t pid = 0;
  int output = -1;
};

running start(char* program) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) bench::fail("pipe2 failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::array<char*, 2> arguments{program, nullptr};
  running started{.output = ends[0]};
  if (posix_spawn(&started.pid, program, &actions, nullptr, arguments.data(), environ) != 0) {
    bench::fail("posix_spawn failed");
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  return started;
}

// Whether the command has ended.
bool read_some(const running& from) {
  std::array<char, 4096> text{};
  if (read(from.output, text.data(), text.size()) > 0) return false;
  close(from.output);
  int status = 0;
  rusage used{};
  if (wait4(from.pid, &status, 0, &used) != from.pid || status != 0) {
    bench::fail("the command failed");
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) bench::fail("usage: COUNT IN_FLIGHT PROGRAM");
  int left = std::atoi(argv[1]);
  std::vector<running> all;
  std::vector<pollfd> watched;
  for (int i = std::atoi(argv[2]); i > 0 && left > 0; --i, --left) {
    all.push_back(start(argv[3]));
    watched.push_back({.fd = all.back().output, .events = POLLIN, .revents = 0});
  }
  while (!all.empty()) {
    if (poll(watched.data(), watched.size(), -1) < 0) bench::fail("poll failed");
    for (std::size_t i = all.size(); i-- > 0;) {
      if (watched[i].revents == 0 || !read_some(all[i])) continue;
      if (left > 0) {
        --left;
        all[i] = start(argv[3]);
        watched[i].fd = all[i].output;
      } else {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        watched.erase(watched.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}
