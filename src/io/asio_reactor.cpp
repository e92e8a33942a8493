#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "io/operation_list.hpp"
#include "io/reactor.hpp"

namespace weft::io {
namespace {

using clock = std::chrono::steady_clock;
using kind = socket_operation::kind;

int result_of(long returned) noexcept {
  return returned >= 0 ? static_cast<int>(returned) : -errno;
}

// The system call, which does not wait.
int attempt(socket_operation& op) noexcept {
  const int fd = op.socket->fd;
  auto* const address = static_cast<sockaddr*>(op.data);
  switch (op.asked) {
    case kind::receive:
      return result_of(::recv(fd, op.data, portion(op), 0));
    case kind::send:
      return result_of(::send(fd, op.data, portion(op), MSG_NOSIGNAL));
    case kind::accept:
      return result_of(::accept4(fd, address, &op.address_size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    case kind::connect: {
      // Called again when it is over, it gives the outcome.
      const int result = result_of(::connect(fd, address, op.address_size));
      if (result == -EISCONN) return 0;
      return result == -EINPROGRESS || result == -EALREADY ? -EAGAIN : result;
    }
  }
  return -EINVAL;
}

// Boost.Asio, and for the sockets of Weft an epoll set of their own, which Asio waits for as for
// one descriptor. A socket is put into that set once, edge-triggered, so waiting for it again takes
// no system call; Asio's async_wait takes one each time.
class asio_reactor final : public reactor {
 public:
  asio_reactor();

  void run_turn(time_point until) noexcept override;
  void wake() noexcept override {
    boost::asio::post(context_, [] {});
  }
  void start(socket_operation& op) noexcept override;
  void cancel(socket_operation& op) noexcept override;
  void forget(reactor_socket& s) noexcept override;
  [[nodiscard]] bool wants_nonblocking() const noexcept override { return true; }
  [[nodiscard]] boost::asio::io_context* context() noexcept override { return &context_; }

 private:
  // So many operations may be done as they are started before the others have their turn.
  static constexpr int at_once_max = 16;

  // Asks Asio to say when a socket is ready.
  void watch_sockets();
  void run_asio(time_point until, time_point end);
  // False when there was none.
  [[nodiscard]] bool take_events() noexcept;
  void tell(time_point end) noexcept;
  // Does it, or leaves it to wait for its socket.
  void try_now(socket_operation& op) noexcept;
  [[nodiscard]] bool watch(reactor_socket& s) noexcept;

  boost::asio::io_context context_{1};  // used by one thread, posted to by many
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  boost::asio::posix::stream_descriptor sockets_{context_};
  bool is_watching_ = false;
  bool has_events_ = false;
  int left_at_once_ = at_once_max;
  operation_list ready_;  // their sockets are ready, or they were called off
};

asio_reactor::asio_reactor() {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) {
    throw boost::system::system_error(
        boost::system::error_code(errno, boost::system::system_category()));
  }
  sockets_.assign(set);
}

void asio_reactor::run_turn(time_point until) noexcept {
  const auto end = clock::now() + turn;
  left_at_once_ = at_once_max;
  if (!is_watching_ && !has_events_) watch_sockets();
  run_asio(ready_.empty() && !has_events_ ? until : at_once, end);
  // Sockets that answer at once are looked at again without going round through Asio.
  while (has_events_) {
    has_events_ = take_events();
    tell(end);
    if (clock::now() >= end) return;
    left_at_once_ = at_once_max;
  }
  tell(end);
}

void asio_reactor::watch_sockets() {
  is_watching_ = true;
  sockets_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        is_watching_ = false;
                        has_events_ = !error;
                      });
}

void asio_reactor::run_asio(time_point until, time_point end) {
  std::size_t ran = 0;
  if (until == at_once) {
    ran = context_.poll_one();
  } else if (until == whenever) {
    ran = context_.run_one();
  } else {
    ran = context_.run_one_until(until);
  }
  while (ran > 0 && !has_events_ && clock::now() < end) ran = context_.poll_one();
}

// Before any task goes on: it might destroy a socket whose event is still to be looked at.
bool asio_reactor::take_events() noexcept {
  std::array<epoll_event, 256> events;
  const int count = ::epoll_wait(sockets_.native_handle(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto& s = *static_cast<reactor_socket*>(event.data.ptr);
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    // The end may have come with the last bytes, and then there will be no other event for it.
    if (broken || (event.events & EPOLLRDHUP) != 0) s.hung_up = true;
    if (s.hung_up || (event.events & EPOLLIN) != 0) s.may_read = true;
    if (broken || (event.events & EPOLLOUT) != 0) s.may_write = true;
    if (s.may_read && s.input != nullptr && !s.input->is_queued) ready_.push_back(*s.input);
    if (s.may_write && s.output != nullptr && !s.output->is_queued) ready_.push_back(*s.output);
  }
  return count > 0;
}

void asio_reactor::tell(time_point end) noexcept {
  while (socket_operation* const op = ready_.pop_front()) {
    if (op->called_off) {
      op->result = -ECANCELED;
      op->done();
    } else {
      try_now(*op);
    }
    if (clock::now() >= end) return;
  }
}

void asio_reactor::start(socket_operation& op) noexcept {
  reactor_socket& s = *op.socket;
  // A connect is tried first: a socket that is not connected is always ready.
  if (op.asked != kind::connect && !watch(s)) {
    op.result = -errno;
    return op.done();
  }
  if (!(is_input(op.asked) ? s.may_read : s.may_write)) return;
  if (left_at_once_ == 0) return ready_.push_back(op);
  --left_at_once_;
  try_now(op);
}

void asio_reactor::try_now(socket_operation& op) noexcept {
  reactor_socket& s = *op.socket;
  const int result = attempt(op);
  if (result == -EAGAIN) {
    (is_input(op.asked) ? s.may_read : s.may_write) = false;
    if (watch(s)) return;
    op.result = -errno;
    return op.done();
  }
  // After a short read there is no more: another attempt would be in vain.
  if (op.asked == kind::receive && result >= 0 && static_cast<std::size_t>(result) < portion(op)) {
    s.may_read = s.hung_up || result == 0;
  }
  op.result = result;
  op.done();
}

bool asio_reactor::watch(reactor_socket& s) noexcept {
  if (s.is_watched) return true;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &s;
  s.is_watched = ::epoll_ctl(sockets_.native_handle(), EPOLL_CTL_ADD, s.fd, &event) == 0;
  return s.is_watched;
}

void asio_reactor::cancel(socket_operation& op) noexcept {
  op.called_off = true;
  if (!op.is_queued) ready_.push_back(op);
}

// A child that was forked meanwhile may hold the socket open, so closing it is not enough.
void asio_reactor::forget(reactor_socket& s) noexcept {
  if (s.is_watched) ::epoll_ctl(sockets_.native_handle(), EPOLL_CTL_DEL, s.fd, nullptr);
}

}  // namespace

std::unique_ptr<reactor> make_asio_reactor() try {
  return std::make_unique<asio_reactor>();
} catch (const boost::system::system_error& e) {
  throw std::system_error(e.code(),
                          "weft: the I/O engine cannot start; it needs descriptors for two epoll "
                          "sets, a timer and an event (ulimit -n)");
}

}  // namespace weft::io
