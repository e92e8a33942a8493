#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <weft/process/command.hpp>
#include <weft/process/supervisor.hpp>

#include "process/output_buffer.hpp"
#include "process/process_tree.hpp"
#include "process/spawn.hpp"

namespace weft::process {

// What all commands share that something happens to at the same time.
class moment {
 public:
  explicit moment(std::span<char> scratch) : scratch_(scratch) {}

  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept { return now_; }
  // For bytes on their way.
  [[nodiscard]] std::span<char> scratch() const noexcept { return scratch_; }
  // Read once, by the first who asks.
  [[nodiscard]] const process_table& processes() {
    if (!processes_) processes_ = process_table::read();
    return *processes_;
  }

 private:
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  std::span<char> scratch_;
  std::optional<process_table> processes_;
};

// A command from its start to its outcome. It is told what happens and says when it wants to be
// called again; it has no thread and never waits.
//
//   running ──ended─────────────────────────────────────> draining ──end of output, 100 ms──> done
//      │                                                     ^
//      └─time is up, stop─> terminating ──tree is gone───────┤
//              │                 └─grace is over─> killing ──┘ tree is gone, 500 ms
//              └─stop(now)────────────────────────────^
//
// A command that is stopped is waited for only when its tree is gone: process_tree needs it so.
class child {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  child(spawned process, std::string mark, const limits& allowed, time_point started);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // -1: it is gone already, and so is its exit status.
  [[nodiscard]] int process_descriptor() const noexcept { return process_.get(); }
  [[nodiscard]] int output_descriptor() const noexcept { return output_.get(); }

  // The output can be read, or nobody holds it any more.
  void on_output(moment& at);
  // The process has ended, perhaps.
  void on_process(moment& at);
  void stop(stop_mode mode, moment& at);
  // The time of deadline() has come.
  void on_deadline(moment& at);

  [[nodiscard]] std::optional<time_point> deadline() const noexcept { return deadline_; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  [[nodiscard]] bool is_output_at_end() const noexcept { return output_at_end_; }
  [[nodiscard]] bool is_done() const noexcept { return phase_ == phase::done; }
  [[nodiscard]] outcome take_outcome() &&;

 private:
  enum class phase : std::uint8_t { running, terminating, killing, draining, done };

  void begin_to_stop(ending how, stop_mode mode, moment& at);
  void kill(moment& at);
  void look_for_others(moment& at);
  void wait_for_it();
  void drain(moment& at);
  bool read_to_end(std::span<char> scratch);
  bool read_some(std::span<char> scratch);

  pid_t pid_;
  descriptor process_;
  descriptor output_;
  std::chrono::nanoseconds grace_;
  output_buffer buffer_;
  process_tree tree_;
  outcome result_;

  phase phase_ = phase::running;
  bool ended_ = false;
  bool output_at_end_ = false;
  std::optional<time_point> deadline_;
  time_point phase_end_;                          // of terminating and killing
  std::chrono::milliseconds until_next_look_{0};  // in terminating and killing
  int looks_without_others_ = 0;
};

}  // namespace weft::process
