#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "io/operation_list.hpp"
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
// waits next, in one call together with the waiting. When the ring is full, and the kernel takes
// nothing before completions are taken from it, requests wait here for the next turn.
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
  // Null while there is no room.
  [[nodiscard]] io_uring_sqe* try_entry() noexcept;
  void listen_for_wake() noexcept;
  // Asks for what found no room. False while there is none.
  [[nodiscard]] bool ask_again() noexcept;
  void ask(io_uring_sqe& entry, socket_operation& op) noexcept;
  static void ask_to_cancel(io_uring_sqe& entry, const socket_operation& op) noexcept;
  void prepare(io_uring_sqe& entry, socket_operation& op) noexcept;
  void submit_and_wait(time_point until) noexcept;
  void take_completions(time_point end) noexcept;
  void tell(std::uint64_t whom, int result) noexcept;
  static void tell(socket_operation& op, int result) noexcept;

  io_uring ring_{};
  bool knows_poll_first_ = false;
  int wake_event_ = -1;
  std::uint64_t wakes_ = 0;  // written by the kernel, read by nobody
  bool is_listening_ = false;

  // Found no room: those of which the kernel has not heard, and those that it has.
  operation_list to_start_;
  operation_list to_cancel_;
  operation_list never_started_;  // were called off before there was room
};

uring_reactor::uring_reactor() {
  open_ring();
  wake_event_ = ::eventfd(0, EFD_CLOEXEC);
  int error = wake_event_ < 0 ? errno : 0;
  if (error == 0) {
    listen_for_wake();
    // A filter may let rings be made and not be used.
    const int submitted = ::io_uring_submit(&ring_);
    if (submitted < 0) error = -submitted;
  }
  if (error == 0) return;
  ::io_uring_queue_exit(&ring_);
  if (wake_event_ >= 0) ::close(wake_event_);
  throw_cannot_start(error);
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
  // Neither waits nor fails: the count has 64 bits.
  [[maybe_unused]] const auto written = ::write(wake_event_, &one, sizeof one);
}

void uring_reactor::run_turn(time_point until) noexcept {
  const bool has_room = ask_again();
  const bool has_results = !never_started_.empty() || ::io_uring_cq_ready(&ring_) > 0;
  submit_and_wait(has_room && !has_results ? until : at_once);
  const auto end = clock::now() + turn;
  while (socket_operation* const op = never_started_.pop_front()) {
    tell(*op, -ECANCELED);
    if (clock::now() >= end) return;
  }
  take_completions(end);
}

void uring_reactor::take_completions(time_point end) noexcept {
  io_uring_cqe* entry = nullptr;
  while (::io_uring_peek_cqe(&ring_, &entry) == 0) {
    const std::uint64_t whom = entry->user_data;
    const int result = entry->res;
    ::io_uring_cqe_seen(&ring_, entry);
    tell(whom, result);
    if (clock::now() >= end) return;
  }
}

// An error leaves the requests in the ring, for the next turn: it is an interruption, the end of
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
  if (op.is_queued) to_cancel_.remove(op);
  // Where a thread of the kernel's waits in the call, calling it off interrupts that thread.
  tell(op, op.called_off && result == -EINTR ? -ECANCELED : result);
}

void uring_reactor::tell(socket_operation& op, int result) noexcept {
  if (op.asked == kind::receive) {
    op.socket->may_read = result < 0 || static_cast<std::size_t>(result) == portion(op);
  }
  op.result = result;
  op.done();
}

io_uring_sqe* uring_reactor::try_entry() noexcept {
  if (io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_)) return entry;
  ::io_uring_submit(&ring_);
  return ::io_uring_get_sqe(&ring_);
}

void uring_reactor::listen_for_wake() noexcept {
  io_uring_sqe* const entry = try_entry();
  is_listening_ = entry != nullptr;
  if (!is_listening_) return;
  ::io_uring_prep_read(entry, wake_event_, &wakes_, sizeof wakes_, 0);
  ::io_uring_sqe_set_data64(entry, of_wake);
}

bool uring_reactor::ask_again() noexcept {
  if (!is_listening_) listen_for_wake();
  while (!to_cancel_.empty() || !to_start_.empty()) {
    io_uring_sqe* const entry = try_entry();
    if (entry == nullptr) return false;
    if (socket_operation* const op = to_cancel_.pop_front()) {
      ask_to_cancel(*entry, *op);
    } else {
      ask(*entry, *to_start_.pop_front());
    }
  }
  return is_listening_;
}

void uring_reactor::start(socket_operation& op) noexcept {
  io_uring_sqe* const entry = to_start_.empty() ? try_entry() : nullptr;
  if (entry == nullptr) return to_start_.push_back(op);
  ask(*entry, op);
}

void uring_reactor::ask(io_uring_sqe& entry, socket_operation& op) noexcept {
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

void uring_reactor::cancel(socket_operation& op) noexcept {
  if (std::exchange(op.called_off, true)) return;
  if (op.is_queued) {
    to_start_.remove(op);
    return never_started_.push_back(op);
  }
  io_uring_sqe* const entry = try_entry();
  if (entry == nullptr) return to_cancel_.push_back(op);
  ask_to_cancel(*entry, op);
}

// Requests are carried out in the order in which they were made. So this one finds the operation
// or nothing, never another one that was begun later at the same address.
void uring_reactor::ask_to_cancel(io_uring_sqe& entry, const socket_operation& op) noexcept {
  ::io_uring_prep_cancel64(&entry, reinterpret_cast<std::uint64_t>(&op), 0);
  ::io_uring_sqe_set_data64(&entry, of_nobody);
}

}  // namespace

std::unique_ptr<reactor> make_uring_reactor() { return std::make_unique<uring_reactor>(); }

}  // namespace weft::io
