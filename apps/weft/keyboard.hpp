#pragma once

#include <termios.h>

#include <functional>
#include <optional>
#include <thread>

namespace weft::cli {

// Tells of keys as they are pressed, without waiting for the end of a line, as long as standard
// input is a terminal and this program is in its foreground. Signals of keys, as of Ctrl-C, stay.
// The terminal is as before when this is gone.
class keyboard {
 public:
  // `pressed` is called on a thread of this. Errors: std::system_error.
  explicit keyboard(std::function<void(char)> pressed);
  ~keyboard();
  keyboard(const keyboard&) = delete;
  keyboard& operator=(const keyboard&) = delete;

 private:
  void listen();

  std::function<void(char)> pressed_;
  std::optional<termios> before_;  // none: the terminal was never changed
  int quit_ = -1;                  // eventfd, written by the destructor
  std::thread thread_;
};

}  // namespace weft::cli
