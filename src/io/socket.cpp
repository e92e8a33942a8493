#include <weft/io/socket.hpp>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <weft/io/hybrid.hpp>

#include "io/address.hpp"
#include "io/io_thread.hpp"
#include "io/scheduler.hpp"
#include "io/socket_state.hpp"

namespace weft::io {
namespace {

// Closes what no socket owns yet.
class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

[[noreturn]] void throw_errno(int error, const std::string& doing, const socket_address& whom) {
  std::string text = "weft: " + doing + to_string(whom);
  if (error == EMFILE) text += ": no descriptor is left; close some, or raise ulimit -n";
  throw std::system_error(error, std::generic_category(), text);
}

void set_option(int fd, int level, int option) noexcept {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

// An answer does not wait for the acknowledgement of the one before it.
void send_at_once(int fd) noexcept { set_option(fd, IPPROTO_TCP, TCP_NODELAY); }

int open_socket(const socket_address& address, const io_thread& thread) noexcept {
  const int flags = SOCK_STREAM | SOCK_CLOEXEC | (thread.is_nonblocking() ? SOCK_NONBLOCK : 0);
  return ::socket(address.family(), flags, 0);
}

// False with errno.
bool is_tcp(int fd) noexcept {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  if (::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0) return false;
  if (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP) return true;
  errno = EPROTONOSUPPORT;
  return false;
}

std::shared_ptr<socket_state> own(descriptor& d, io_thread& thread, const socket_address& name) {
  auto state = std::make_shared<socket_state>(thread, d.get(), name);
  d.release();
  return state;
}

const socket_state& known(const std::shared_ptr<socket_state>& state, const char* doing) {
  if (state == nullptr) {
    throw std::logic_error(std::string("weft: ") + doing + " on a socket that was moved from");
  }
  return *state;
}

[[noreturn]] void throw_used_after_fork(const char* doing) {
  throw used_after_fork(std::string("weft: ") + doing +
                        " in a forked child: the scheduler's threads stayed in the parent; make a "
                        "new scheduler in the child, and sockets with it");
}

// For what the I/O thread does.
std::shared_ptr<socket_state> served(const std::shared_ptr<socket_state>& state,
                                     const char* doing) {
  if (known(state, doing).is_abandoned()) throw_used_after_fork(doing);
  return state;
}

io_thread& thread_of(hybrid_scheduler& hs, const char* doing) {
  if (scheduler_of(hs).is_abandoned()) throw_used_after_fork(doing);
  return scheduler_of(hs).io();
}

class connect_wait final : public socket_wait {
 public:
  connect_wait(std::shared_ptr<socket_state> s, socket_address& to) noexcept
      : socket_wait(std::move(s), kind::connect, address{to.get(), to.size}) {}
  void await_resume() const { static_cast<void>(finish()); }
};

class accept_wait final : public socket_wait {
 public:
  accept_wait(std::shared_ptr<socket_state> s, socket_address& from) noexcept
      : socket_wait(std::move(s), kind::accept, address{from.get(), from.size}), from_(from) {}
  // A descriptor.
  int await_resume() const {
    const int fd = finish();
    from_.size = address_size;
    return fd;
  }

 private:
  // A connection that was given up while it waited is no fault of the listener's.
  [[nodiscard]] bool is_complete() noexcept override {
    return result != -ECONNABORTED && result != -EPROTO && result != -EINTR;
  }

  socket_address& from_;
};

}  // namespace

// -- tcp_stream -----------------------------------------------------------------------------------

task<tcp_stream> tcp_stream::connect(hybrid_scheduler& hs, endpoint to) {
  if (scheduler_of(hs).is_abandoned()) throw_used_after_fork("tcp_stream::connect");
  return connect_to(hs, to_address(to));
}

task<tcp_stream> tcp_stream::connect_to(hybrid_scheduler& hs, socket_address address) {
  io_thread& thread = thread_of(hs, "tcp_stream::connect");
  descriptor socket(open_socket(address, thread));
  if (socket.get() < 0) throw_errno(errno, "connect to ", address);
  send_at_once(socket.get());
  tcp_stream stream(own(socket, thread, address));
  co_await connect_wait(stream.state_, address);
  co_return stream;
}

tcp_stream tcp_stream::adopt(hybrid_scheduler& hs, int socket) {
  io_thread& thread = thread_of(hs, "tcp_stream::adopt");
  socket_address peer;
  const int flags = ::fcntl(socket, F_GETFL);
  const int wanted = thread.is_nonblocking() ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (flags < 0 || ::getpeername(socket, peer.get(), &peer.size) != 0 || !is_tcp(socket) ||
      ::fcntl(socket, F_SETFL, wanted) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "weft: tcp_stream::adopt of descriptor " + std::to_string(socket) +
                                ", which must be a connected TCP socket");
  }
  send_at_once(socket);
  return tcp_stream(std::make_shared<socket_state>(thread, socket, peer));
}

tcp_stream::tcp_stream(std::shared_ptr<socket_state> state) noexcept : state_(std::move(state)) {}

tcp_stream& tcp_stream::operator=(tcp_stream&& other) noexcept {
  if (this != &other) {
    close();
    state_ = std::move(other.state_);
  }
  return *this;
}

tcp_stream::~tcp_stream() { close(); }

receive_wait tcp_stream::read_some(std::span<std::byte> into) {
  return {served(state_, "tcp_stream::read_some"), into};
}

send_wait tcp_stream::write_all(std::span<const std::byte> from) {
  return {served(state_, "tcp_stream::write_all"), from};
}

void tcp_stream::shutdown_send() {
  const int error = served(state_, "tcp_stream::shutdown_send")->shutdown_send();
  if (error != 0) throw_errno(error, "shut down sending to ", state_->name());
}

void tcp_stream::close() noexcept {
  if (state_ != nullptr) state_->close();
}

coro::hop tcp_stream::io() { return schedule_on(served(state_, "tcp_stream::io")->thread()); }
std::string tcp_stream::peer() const { return to_string(known(state_, "tcp_stream::peer").name()); }
int tcp_stream::native_handle() const { return known(state_, "tcp_stream::native_handle").fd(); }

// -- tcp_listener ---------------------------------------------------------------------------------

tcp_listener tcp_listener::listen(hybrid_scheduler& hs, endpoint at) {
  socket_address address = to_address(at);
  io_thread& thread = thread_of(hs, "tcp_listener::listen");
  descriptor socket(open_socket(address, thread));
  if (socket.get() < 0) throw_errno(errno, "listen on ", address);
  // A server that is started again does not wait for connections of the old one to be forgotten.
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR);
  if (::bind(socket.get(), address.get(), address.size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), address.get(), &address.size) != 0) {
    throw_errno(errno, "listen on ", address);
  }
  return {hs, own(socket, thread, address)};
}

tcp_listener::tcp_listener(hybrid_scheduler& hs, std::shared_ptr<socket_state> state) noexcept
    : scheduler_(&hs), state_(std::move(state)) {}

tcp_listener& tcp_listener::operator=(tcp_listener&& other) noexcept {
  if (this != &other) {
    close();
    scheduler_ = other.scheduler_;
    state_ = std::move(other.state_);
  }
  return *this;
}

tcp_listener::~tcp_listener() { close(); }

task<tcp_stream> tcp_listener::accept() {
  return accept_on(*scheduler_, served(state_, "tcp_listener::accept"));
}

// Keeps nothing of the listener, which may be moved, or be gone, when a connection comes.
task<tcp_stream> tcp_listener::accept_on(hybrid_scheduler& hs,
                                         std::shared_ptr<socket_state> state) {
  socket_address from;
  descriptor socket(co_await accept_wait(std::move(state), from));
  send_at_once(socket.get());
  co_return tcp_stream(own(socket, scheduler_of(hs).next_io(), from));
}

std::uint16_t tcp_listener::port() const {
  return port_of(known(state_, "tcp_listener::port").name());
}

void tcp_listener::close() noexcept {
  if (state_ != nullptr) state_->close();
}

}  // namespace weft::io
