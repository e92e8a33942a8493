#include "io/socket_state.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <weft/core/crew_access.hpp>

#include "io/io_thread.hpp"

namespace weft::io {

socket_state::socket_state(io_thread& thread, int fd, const socket_address& name) noexcept
    : thread_(thread), process_(detail::process_generation()), name_(name) {
  socket_.fd = fd;
}

socket_state::~socket_state() = default;

bool socket_state::is_abandoned() const noexcept {
  return process_ != detail::process_generation();
}

void socket_state::start(socket_operation& op) noexcept {
  op.socket = &socket_;
  socket_operation*& slot = socket_.slot(op.asked);
  if (is_closing_ || slot != nullptr) {
    op.result = is_closing_ ? -EBADF : -EALREADY;
    return op.done();
  }
  slot = &op;
  thread_.engine().start(op);
}

void socket_state::start_again(socket_operation& op) noexcept { thread_.engine().start(op); }

void socket_state::cancel(socket_operation& op) noexcept { thread_.engine().cancel(op); }

void socket_state::ended(socket_operation& op) noexcept {
  socket_operation*& slot = socket_.slot(op.asked);
  if (slot != &op) return;
  slot = nullptr;
  if (is_closing_) close_descriptor_if_idle();
}

void socket_state::close() {
  // Locks may be held for ever, and the engine is the parent's: it would forget the socket there.
  if (is_abandoned()) {
    if (!std::exchange(close_asked_, true)) ::close(socket_.fd);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(close_asked_, true)) return;
  }
  if (thread_.is_here()) return close_here();
  note_.of = shared_from_this();
  note_.call = [](detail::job& self, detail::job_fate /*fate*/) noexcept {
    const auto of = std::move(static_cast<close_note&>(self).of);
    of->close_here();
  };
  thread_.post(note_);
}

void socket_state::close_here() noexcept {
  is_closing_ = true;
  if (socket_.input != nullptr) cancel(*socket_.input);
  if (socket_.output != nullptr) cancel(*socket_.output);
  close_descriptor_if_idle();
}

// Not before: the number may be that of another file at once, and the kernel may still look at it.
void socket_state::close_descriptor_if_idle() noexcept {
  if (socket_.input != nullptr || socket_.output != nullptr) return;
  thread_.engine().forget(socket_);
  ::close(socket_.fd);
}

int socket_state::shutdown_send() noexcept {
  const std::lock_guard lock(mutex_);
  if (close_asked_) return EBADF;
  return ::shutdown(socket_.fd, SHUT_WR) == 0 ? 0 : errno;
}

}  // namespace weft::io
