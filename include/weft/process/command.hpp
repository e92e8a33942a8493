#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::process {

// A program to run, as an argument list: no shell reads it.
struct command {
  std::vector<std::string> argv;  // argv[0] is looked up in its PATH unless it has a slash
  // On top of the environment that this process had when the supervisor was made.
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd;  // empty: this process's
};

// What a command may take. Output beyond head and tail is dropped in the middle.
struct limits {
  std::chrono::nanoseconds timeout{0};                       // from the start; 0: none
  std::chrono::nanoseconds grace = std::chrono::seconds(2);  // between SIGTERM and SIGKILL
  std::size_t output_head = std::size_t{32} << 10U;
  std::size_t output_tail = std::size_t{32} << 10U;
};

enum class ending : std::uint8_t {
  exited,       // by itself, with exit_code
  signalled,    // by a signal that we did not send
  timed_out,    // we killed it, because its time was up
  stopped,      // we killed it, because somebody asked
  not_started,  // problem says why
};

// Standard output and standard error, as they came.
struct captured_output {
  std::string head;
  std::string tail;           // empty unless something was dropped
  std::uint64_t dropped = 0;  // bytes between head and tail

  // Both, with a line that says how much is missing between them.
  [[nodiscard]] std::string text() const;
};

// How a command ended and what it took.
struct outcome {
  ending how = ending::not_started;
  int exit_code = -1;   // -1: none, because a signal ended it, or unknown, and problem says why
  int signal = 0;       // that ended it; 0: none, it exited, perhaps after a SIGTERM of ours
  int start_error = 0;  // not_started: an errno
  std::string problem;  // a sentence, if it did not start or its exit status is lost
  captured_output output;
  std::chrono::steady_clock::time_point started;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds user_time{0};
  std::chrono::nanoseconds system_time{0};
  // Bytes, of the largest process in the tree that was waited for. The kernel lets a process begin
  // with the peak of the one that started it, so up to our own peak this is only an upper bound.
  std::uint64_t peak_rss = 0;
  // Somebody still held the output 100 ms after it had ended, or could not be killed.
  bool left_running = false;

  [[nodiscard]] bool ok() const noexcept { return how == ending::exited && exit_code == 0; }
};

}  // namespace weft::process
