#include "screen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

namespace weft::cli {
namespace {

constexpr std::chrono::milliseconds rest(10);  // between two writes

// A terminal that has room for a part of what is written takes it and waits for the rest, whatever
// poll() has said. It does not where it is open a second time, without waiting, for us alone.
int open_apart(int descriptor) {
  if (::isatty(descriptor) != 1) return -1;
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  return ::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

// How much can be written without waiting when poll() says that there is room.
std::size_t chunk_for(int descriptor) {
  struct stat what{};
  if (::fstat(descriptor, &what) != 0) return 512;
  if (S_ISREG(what.st_mode)) return std::size_t{1} << 20U;
  return S_ISFIFO(what.st_mode) ? PIPE_BUF : 512;
}

// Lines that were as wide as the terminal stand in several rows once it is narrower.
std::size_t rows_of(const std::vector<std::size_t>& widths, std::size_t columns) {
  std::size_t rows = 0;
  for (const std::size_t width : widths) {
    rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  }
  return rows;
}

}  // namespace

screen::screen(int descriptor)
    : apart_(open_apart(descriptor)),
      descriptor_(apart_ >= 0 ? apart_ : descriptor),
      chunk_(chunk_for(descriptor)),
      quit_(::eventfd(0, EFD_CLOEXEC)) {
  if (quit_ < 0) throw std::system_error(errno, std::generic_category(), "cannot prepare output");
  thread_ = std::thread([this] { work(); });
}

screen::~screen() {
  end_thread();
  ::close(quit_);
  if (apart_ >= 0) ::close(apart_);
}

void screen::print(std::string_view text) {
  if (text.empty()) return;
  const std::lock_guard lock(mutex_);
  text_ += text;
  if (waits_) changed_.notify_all();
}

void screen::show(std::vector<screen_line> lines, std::size_t columns) {
  const std::lock_guard lock(mutex_);
  lines_ = std::move(lines);
  columns_ = columns;
  has_new_lines_ = true;
  if (waits_) changed_.notify_all();
}

void screen::abandon() {
  const std::lock_guard lock(mutex_);
  lines_.clear();
  drawn_.clear();
  has_new_lines_ = false;
}

screen::outcome screen::finish(const std::stop_token& hurry) {
  constexpr std::chrono::seconds patience(1);
  std::unique_lock lock(mutex_);
  lines_.clear();
  has_new_lines_ = true;
  closing_ = true;
  changed_.notify_all();
  changed_.wait(lock, hurry, [&] { return done_; });
  changed_.wait_for(lock, patience, [&] { return done_; });
  if (!done_) how_ = outcome::given_up;
  lock.unlock();
  end_thread();
  return how_;
}

void screen::end_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(quit_, &one, sizeof one));
  thread_.join();
}

void screen::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    waits_ = true;
    changed_.wait(lock, [&] { return !text_.empty() || has_new_lines_ || closing_; });
    waits_ = false;
    const std::string out = compose();
    if (out.empty() && closing_) break;
    if (how_ != outcome::written) continue;  // nobody will read it
    lock.unlock();
    const outcome how = write_all(out);
    lock.lock();
    how_ = how;
    if (how == outcome::given_up) break;
    // Nobody reads faster than this, and each waking would take a core from the rules.
    changed_.wait_for(lock, rest, [&] { return closing_; });
  }
  done_ = true;
  changed_.notify_all();
}

// Text goes above the lines. With the lock held.
std::string screen::compose() {
  std::string out;
  const bool erases = !drawn_.empty() && (has_new_lines_ || !text_.empty());
  if (erases) {
    const std::size_t rows = rows_of(drawn_, columns_);
    out += '\r';
    if (rows > 1) out += "\x1b[" + std::to_string(rows - 1) + "A";
  }
  if (!text_.empty() && erases) out += "\x1b[J";
  out += std::exchange(text_, {});
  has_new_lines_ = false;
  drawn_.clear();
  for (const screen_line& line : lines_) {
    if (!drawn_.empty()) out += '\n';
    out += line.text;
    out += "\x1b[K";
    drawn_.push_back(line.width);
  }
  if (erases) out += "\x1b[J";
  return out;
}

screen::outcome screen::write_all(const std::string& text) const {
  std::string_view left = text;
  while (!left.empty()) {
    if (!wait_for_room()) return outcome::given_up;
    const ssize_t count = ::write(descriptor_, left.data(), std::min(left.size(), chunk_));
    if (count >= 0) {
      left.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EPIPE) {
      return outcome::reader_gone;
    } else if (errno == EAGAIN) {
      // poll() and write() may differ about a last free byte, and would do so without a pause.
      pollfd quit = {.fd = quit_, .events = POLLIN, .revents = 0};
      static_cast<void>(::poll(&quit, 1, 10));
    } else if (errno != EINTR) {
      return outcome::failed;
    }
  }
  return outcome::written;
}

bool screen::wait_for_room() const {
  for (;;) {
    std::array<pollfd, 2> waited = {{{.fd = descriptor_, .events = POLLOUT, .revents = 0},
                                     {.fd = quit_, .events = POLLIN, .revents = 0}}};
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;
    if (waited[0].revents != 0) return true;
    if (waited[1].revents != 0) return false;
  }
}

}  // namespace weft::cli
