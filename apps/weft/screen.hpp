#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace weft::cli {

// A line, which may have colours, and how many columns it takes.
struct screen_line {
  std::string text;
  std::size_t width = 0;
};

// Writes to a descriptor on a thread of its own, so that nobody waits for a reader that has
// stalled. What is printed stays; below it stand lines that are drawn over, of which only the
// newest count.
//
// Threads: any.
class screen {
 public:
  // Errors: std::system_error.
  explicit screen(int descriptor);
  // What has not been written by then is lost; see finish().
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  void print(std::string_view text);
  // For a terminal that is so wide now.
  void show(std::vector<screen_line> lines, std::size_t columns);

  // Leaves the lines that stand there as they are: somebody else has written below them.
  void abandon();

  enum class outcome : std::uint8_t {
    written,
    reader_gone,  // as with `weft run PLAN | head`
    failed,       // a full disk
    given_up,
  };
  // Takes the lines away and waits until everything is written; not for longer than a second once
  // `hurry` is requested. Nothing may be printed after it.
  [[nodiscard]] outcome finish(const std::stop_token& hurry);

 private:
  void work();
  [[nodiscard]] std::string compose();
  [[nodiscard]] outcome write_all(const std::string& text) const;
  [[nodiscard]] bool wait_for_room() const;
  void end_thread();

  const int apart_;       // the descriptor that is ours, or -1
  const int descriptor_;  // to write to
  const std::size_t chunk_;
  int quit_ = -1;  // eventfd: the thread shall end, even with something left to write

  std::mutex mutex_;  // guards everything below
  std::condition_variable_any changed_;
  std::string text_;
  std::vector<screen_line> lines_;
  std::size_t columns_ = 80;
  bool has_new_lines_ = false;
  bool waits_ = false;  // the thread has nothing to do, and wants to be told
  bool closing_ = false;
  bool done_ = false;
  outcome how_ = outcome::written;
  std::vector<std::size_t> drawn_;  // how wide the lines are that stand there

  std::thread thread_;
};

}  // namespace weft::cli
