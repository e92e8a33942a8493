#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include <weft/base/assert.hpp>

#include "io/reactor.hpp"

namespace weft::io {
namespace {

using clock = std::chrono::steady_clock;
using kind = socket_operation::kind;

// What comes back for requests that are no operations; addresses are neither.
constexpr std::uint64_t of_nobody = 0;
constexpr std::uint64_t of_wake = 1;

__kernel_timespec time_until(clock::time_point until) noexcept {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - clock::now());
  const auto ns = left.count() > 0 ? left.count() : 0;
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

[[noreturn]] void throw_cannot_start(int error) {
  std::string why = "weft: the I/O engine io_uring cannot start";
  switch (error) {
    case ENOSYS:
      why += ": the kernel has none, or one older than 5.11";
      break;
    case EPERM:
    case EACCES:
      why +=
          ": it is forbidden, by the sysctl kernel.io_uring_disabled or a seccomp filter, as in "
          "many containers; allow it there";
      break;
    case ENOMEM:
      why += ": memory that may be locked is used up; raise ulimit -l";
      break;
    case EMFILE:
    case ENFILE:
      why += ": it needs two descriptors for each I/O thread; raise ulimit -n";
      break;
    default:
      break;
  }
  why += "; or choose io_engine::epoll or io_engine::automatic in hybrid_options::engine";
  throw std::system_error(error, std::generic_category(), why);
}

// A ring of the thread that makes it. What tasks start is handed to the kernel when the thread
// waits next, in one call together with the waiting.
class uring_reactor final : public reactor {
 public:
  uring_reactor();
  ~uring_reactor() override;

  void run_turn(time_point until) noexcept override;
  void wake() noexcept override;
  void start(socket_operation& op) noexcept override;
  void cancel(socket_operation& op) noexcept override;
  void forget(reactor_socket& /*s*/) noexcept override {}
  [[nodiscard]] bool wants_nonblocking() const noexcept override { return false; }
  [[nodiscard]] boost::asio::io_context* context() noexcept override { return nullptr; }

 private:
  static constexpr unsigned entries = 1024;

  void open_ring();
  [[nodiscard]] bool try_open_ring(unsigned flags);
  [[nodiscard]] io_uring_sqe& next_entry() noexcept;
  void listen_for_wake() noexcept;
  void submit_and_wait(time_point until) noexcept;
  void prepare(io_uring_sqe& entry, socket_operation& op) noexcept;
  void tell(std::uint64_t whom, int result) noexcept;

  io_uring ring_{};
  bool knows_poll_first_ = false;
  int wake_event_ = -1;
  std::uint64_t wakes_ = 0;  // written by the kernel, read by nobody
};

uring_reactor::uring_reactor() {
  open_ring();
  wake_event_ = ::eventfd(0, EFD_CLOEXEC);
  if (wake_event_ < 0) {
    const int error = errno;
    ::io_uring_queue_exit(&ring_);
    throw_cannot_start(error);
  }
  listen_for_wake();
}

uring_reactor::~uring_reactor() {
  ::io_uring_queue_exit(&ring_);
  ::close(wake_event_);
}

// Completions that run only when this thread asks for them are the quickest; older kernels know
// less.
void uring_reactor::open_ring() {
  if (try_open_ring(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)) {
    knows_poll_first_ = true;  // from an older kernel than these flags
  } else if (!try_open_ring(IORING_SETUP_COOP_TASKRUN) && !try_open_ring(0)) {
    throw_cannot_start(EINVAL);
  }
  constexpr unsigned needed = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL;
  if ((ring_.features & needed) != needed) {
    ::io_uring_queue_exit(&ring_);
    throw_cannot_start(ENOSYS);
  }
  ::io_uring_register_ring_fd(&ring_);  // saves a lookup per call where the kernel knows it
}

bool uring_reactor::try_open_ring(unsigned flags) {
  const int result = ::io_uring_queue_init(entries, &ring_, flags);
  if (result == 0) return true;
  if (result != -EINVAL) throw_cannot_start(-result);
  return false;
}

void uring_reactor::wake() noexcept {
  const std::uint64_t one = 1;
  // Fails only when the count is at its limit, and then the thread is woken anyway.
  [[maybe_unused]] const auto written = ::write(wake_event_, &one, sizeof one);
}

void uring_reactor::run_turn(time_point until) noexcept {
  submit_and_wait(::io_uring_cq_ready(&ring_) > 0 ? at_once : until);
  const auto end = clock::now() + turn;
  io_uring_cqe* entry = nullptr;
  while (::io_uring_peek_cqe(&ring_, &entry) == 0) {
    const std::uint64_t whom = entry->user_data;
    const int result = entry->res;
    ::io_uring_cqe_seen(&ring_, entry);
    tell(whom, result);
    if (clock::now() >= end) return;
  }
}

// An error leaves the requests in the queue, for the next turn: it is an interruption, the end of
// the time, or a shortage that passes.
void uring_reactor::submit_and_wait(time_point until) noexcept {
  if (until == at_once) {
    ::io_uring_submit_and_get_events(&ring_);
  } else if (until == whenever) {
    ::io_uring_submit_and_wait(&ring_, 1);
  } else {
    __kernel_timespec time = time_until(until);
    io_uring_cqe* first = nullptr;
    ::io_uring_submit_and_wait_timeout(&ring_, &first, 1, &time, nullptr);
  }
}

void uring_reactor::tell(std::uint64_t whom, int result) noexcept {
  if (whom == of_nobody) return;
  if (whom == of_wake) return listen_for_wake();
  auto& op = *reinterpret_cast<socket_operation*>(whom);
  if (op.asked == kind::receive) {
    op.socket->may_read = result < 0 || static_cast<std::size_t>(result) == portion(op);
  }
  op.result = result;
  op.done();
}

io_uring_sqe& uring_reactor::next_entry() noexcept {
  io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    const int submitted = ::io_uring_submit(&ring_);
    WEFT_ASSERT(
        submitted >= 0 || submitted == -EAGAIN || submitted == -EBUSY || submitted == -EINTR,
        "io_uring takes no more requests");
    entry = ::io_uring_get_sqe(&ring_);
  }
  return *entry;
}

void uring_reactor::listen_for_wake() noexcept {
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_read(&entry, wake_event_, &wakes_, sizeof wakes_, 0);
  ::io_uring_sqe_set_data64(&entry, of_wake);
}

void uring_reactor::start(socket_operation& op) noexcept {
  io_uring_sqe& entry = next_entry();
  prepare(entry, op);
  ::io_uring_sqe_set_data(&entry, &op);
}

void uring_reactor::prepare(io_uring_sqe& entry, socket_operation& op) noexcept {
  const int fd = op.socket->fd;
  auto* const address = static_cast<sockaddr*>(op.data);
  switch (op.asked) {
    case kind::receive:
      ::io_uring_prep_recv(&entry, fd, op.data, portion(op), 0);
      // After a short read there is no more: an attempt before the next bytes would be in vain.
      if (knows_poll_first_ && !op.socket->may_read) entry.ioprio |= IORING_RECVSEND_POLL_FIRST;
      return;
    case kind::send:
      return ::io_uring_prep_send(&entry, fd, op.data, portion(op), MSG_NOSIGNAL);
    case kind::accept:
      return ::io_uring_prep_accept(&entry, fd, address, &op.address_size, SOCK_CLOEXEC);
    case kind::connect:
      return ::io_uring_prep_connect(&entry, fd, address, op.address_size);
  }
}

// Requests are carried out in the order in which they were made. So this one finds the operation
// or nothing, never another one that was begun later at the same address.
void uring_reactor::cancel(socket_operation& op) noexcept {
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_cancel(&entry, &op, 0);
  ::io_uring_sqe_set_data64(&entry, of_nobody);
}

}  // namespace

std::unique_ptr<reactor> make_uring_reactor() { return std::make_unique<uring_reactor>(); }

}  // namespace weft::io
