#include "keyboard.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace weft::cli {
namespace {

// Who is not, must neither read from the terminal nor change it.
bool is_in_foreground() {
  return isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

}  // namespace

keyboard::keyboard(std::function<void(char)> pressed) : pressed_(std::move(pressed)) {
  if (isatty(STDIN_FILENO) != 1) return;
  quit_ = ::eventfd(0, EFD_CLOEXEC);
  if (quit_ < 0) throw std::system_error(errno, std::generic_category(), "cannot read keys");
  thread_ = std::thread([this] { listen(); });
}

keyboard::~keyboard() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(quit_, &one, sizeof one));
  thread_.join();
  ::close(quit_);
  if (before_ && is_in_foreground()) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

void keyboard::listen() {
  constexpr int look_again_ms = 250;  // whether it was stopped and goes on, or changed its place
  for (;;) {
    const bool listens = is_in_foreground();
    termios now{};
    if (listens && tcgetattr(STDIN_FILENO, &now) == 0 && (now.c_lflag & ICANON) != 0) {
      before_ = now;
      now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      tcsetattr(STDIN_FILENO, TCSANOW, &now);
    }
    std::array<pollfd, 2> waited = {{{.fd = quit_, .events = POLLIN, .revents = 0},
                                     {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
    if (::poll(waited.data(), listens ? 2 : 1, look_again_ms) <= 0) continue;
    if (waited[0].revents != 0) return;
    if (!is_in_foreground()) continue;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1) return;  // the terminal has gone
    pressed_(key);
  }
}

}  // namespace weft::cli
