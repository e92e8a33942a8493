#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "options.hpp"

namespace bench {

// The program `echo_server` beside this one, as a child for as long as this lives. Make it while
// the process has one thread.
class echo_process {
 public:
  echo_process() {
    std::array<int, 2> input;
    std::array<int, 2> output;
    if (pipe2(input.data(), O_CLOEXEC) != 0 || pipe2(output.data(), O_CLOEXEC) != 0)
      fail("pipe failed");
    const auto program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "echo_server";
    child_ = fork();
    if (child_ < 0) fail("fork failed");
    if (child_ == 0) {
      dup2(input[0], STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(EXIT_FAILURE);
    }
    close(input[0]);
    close(output[1]);
    its_input_ = input[1];
    std::array<char, 16> text{};
    if (read(output[0], text.data(), text.size() - 1) <= 0) fail("echo_server did not start");
    close(output[0]);
    port_ = static_cast<std::uint16_t>(std::atoi(text.data()));
  }
  echo_process(const echo_process&) = delete;
  echo_process& operator=(const echo_process&) = delete;
  ~echo_process() {
    close(its_input_);
    waitpid(child_, nullptr, 0);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  pid_t child_;
  int its_input_;
  std::uint16_t port_;
};

}  // namespace bench
