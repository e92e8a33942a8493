#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/system_error.hpp>

#include "io/operation_list.hpp"
#include "io/reactor.hpp"

namespace weft::io {
namespace {

using namespace std::chrono_literals;

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

template <std::size_t N>
int wait_for_events(int set, std::array<epoll_event, N>& events, clock::time_point until) noexcept {
  const int room = static_cast<int>(N);
  if (until == reactor::at_once || until == reactor::whenever) {
    return ::epoll_wait(set, events.data(), room, until == reactor::at_once ? 0 : -1);
  }
  const auto left = std::max(std::chrono::nanoseconds(until - clock::now()), 0ns);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  const int count = ::epoll_pwait2(set, events.data(), room, &time, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  // Before Linux 5.11 it is counted in milliseconds: rather too late than in vain.
  constexpr auto longest = std::chrono::milliseconds(std::chrono::hours(1));
  const auto rounded = std::min(std::chrono::ceil<std::chrono::milliseconds>(left), longest);
  return ::epoll_wait(set, events.data(), room, static_cast<int>(rounded.count()));
}

// An epoll set for the sockets of Weft, and Boost.Asio for whoever asks for it. A socket is put
// into that set once, edge-triggered, so waiting for it again takes no system call; Asio's
// async_wait takes one each time.
//
// From when on Asio is asked for, the thread waits in Asio, and Asio for the set as for one
// descriptor. Not before: a set within a set costs the kernel a second round for every event.
class epoll_reactor final : public reactor {
 public:
  epoll_reactor();
  ~epoll_reactor() override;

  void run_turn(time_point until) noexcept override;
  void wake() noexcept override;
  void start(socket_operation& op) noexcept override;
  void cancel(socket_operation& op) noexcept override;
  void forget(reactor_socket& s) noexcept override;
  [[nodiscard]] bool wants_nonblocking() const noexcept override { return true; }
  [[nodiscard]] boost::asio::io_context* context() noexcept override { return &context_; }
  void serve_asio() noexcept override { serves_asio_ = true; }

 private:
  // So many operations may be done as they are started before the others have their turn.
  static constexpr int at_once_max = 16;

  void close_all() noexcept;
  void run_turn_with_asio(time_point until, time_point end);
  // Asks Asio to say when a socket is ready.
  void watch_sockets();
  void run_asio(time_point until, time_point end);
  // False when there was none until then.
  [[nodiscard]] bool take_events(time_point until) noexcept;
  void take_event(const epoll_event& event) noexcept;
  void tell(time_point end) noexcept;
  // Does it, or leaves it to wait for its socket.
  void try_now(socket_operation& op) noexcept;
  [[nodiscard]] bool watch(reactor_socket& s) noexcept;

  boost::asio::io_context context_{1};  // used by one thread, posted to by many
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  int set_ = -1;
  int wake_event_ = -1;  // in the set, edge-triggered: nobody reads it
  bool serves_asio_ = false;
  boost::asio::posix::stream_descriptor sockets_{context_};  // the set; Asio waits for it
  bool is_watching_ = false;
  bool has_events_ = false;
  int left_at_once_ = at_once_max;
  operation_list ready_;  // their sockets are ready, or they were called off
};

epoll_reactor::epoll_reactor()
    : set_(::epoll_create1(EPOLL_CLOEXEC)), wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;
  if (set_ >= 0 && wake_event_ >= 0 && ::epoll_ctl(set_, EPOLL_CTL_ADD, wake_event_, &event) == 0) {
    return;
  }
  const boost::system::error_code error(errno, boost::system::system_category());
  close_all();
  throw boost::system::system_error(error);
}

epoll_reactor::~epoll_reactor() {
  if (sockets_.is_open()) sockets_.release();
  close_all();
}

void epoll_reactor::close_all() noexcept {
  if (wake_event_ >= 0) ::close(wake_event_);
  if (set_ >= 0) ::close(set_);
}

void epoll_reactor::wake() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_event_, &one, sizeof one) == sizeof one);
}

void epoll_reactor::run_turn(time_point until) noexcept {
  left_at_once_ = at_once_max;
  if (!ready_.empty()) until = at_once;
  const auto end = [] { return clock::now() + turn; };
  if (serves_asio_) return run_turn_with_asio(until, end());
  static_cast<void>(take_events(until));
  tell(end());
}

void epoll_reactor::run_turn_with_asio(time_point until, time_point end) {
  if (!is_watching_ && !has_events_) watch_sockets();
  run_asio(has_events_ ? at_once : until, end);
  // Sockets that answer at once are looked at again without going round through Asio.
  while (has_events_) {
    has_events_ = take_events(at_once);
    tell(end);
    if (clock::now() >= end) return;
    left_at_once_ = at_once_max;
  }
  tell(end);
}

void epoll_reactor::watch_sockets() {
  boost::system::error_code cannot;
  if (!sockets_.is_open()) static_cast<void>(sockets_.assign(set_, cannot));
  if (cannot) return;  // no memory for it; run_asio() does not wait for long
  is_watching_ = true;
  sockets_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        is_watching_ = false;
                        has_events_ = !error;
                      });
}

void epoll_reactor::run_asio(time_point until, time_point end) {
  if (!is_watching_ && !has_events_) {
    until = std::min(until, clock::now() + 1ms);
    has_events_ = true;  // perhaps
  }
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

// All of them before any task goes on: it might destroy a socket whose event is still to be looked
// at.
bool epoll_reactor::take_events(time_point until) noexcept {
  std::array<epoll_event, 256> events;
  const int count = wait_for_events(set_, events, until);
  for (int i = 0; i < count; ++i) take_event(events[static_cast<std::size_t>(i)]);
  return count > 0;
}

void epoll_reactor::take_event(const epoll_event& event) noexcept {
  if (event.data.ptr == nullptr) return;  // a wake: that was all
  auto& s = *static_cast<reactor_socket*>(event.data.ptr);
  const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
  // The end may have come with the last bytes, and then there will be no other event for it.
  if (broken || (event.events & EPOLLRDHUP) != 0) s.hung_up = true;
  if ((event.events & EPOLLPRI) != 0) s.has_urgent = true;
  if (s.hung_up || (event.events & EPOLLIN) != 0) s.may_read = true;
  if (broken || (event.events & EPOLLOUT) != 0) s.may_write = true;
  if (s.may_read && s.input != nullptr && !s.input->is_queued) ready_.push_back(*s.input);
  if (s.may_write && s.output != nullptr && !s.output->is_queued) ready_.push_back(*s.output);
}

void epoll_reactor::tell(time_point end) noexcept {
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

void epoll_reactor::start(socket_operation& op) noexcept {
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

void epoll_reactor::try_now(socket_operation& op) noexcept {
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
    s.may_read = s.hung_up || s.has_urgent || result == 0;
  }
  op.result = result;
  op.done();
}

bool epoll_reactor::watch(reactor_socket& s) noexcept {
  if (s.is_watched) return true;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &s;
  s.is_watched = ::epoll_ctl(set_, EPOLL_CTL_ADD, s.fd, &event) == 0;
  return s.is_watched;
}

void epoll_reactor::cancel(socket_operation& op) noexcept {
  op.called_off = true;
  if (!op.is_queued) ready_.push_back(op);
}

// A child that was forked meanwhile may hold the socket open, so closing it is not enough.
void epoll_reactor::forget(reactor_socket& s) noexcept {
  if (s.is_watched) ::epoll_ctl(set_, EPOLL_CTL_DEL, s.fd, nullptr);
}

}  // namespace

std::unique_ptr<reactor> make_epoll_reactor() try {
  return std::make_unique<epoll_reactor>();
} catch (const boost::system::system_error& e) {
  throw std::system_error(e.code(),
                          "weft: the I/O engine cannot start; it needs descriptors for two epoll "
                          "sets, a timer and two events (ulimit -n)");
}

}  // namespace weft::io
