#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <weft/core/job.hpp>
#include <weft/io/socket_operation.hpp>

#include "io/address.hpp"
#include "io/reactor.hpp"

namespace weft::io {

class io_thread;

// A descriptor that belongs to an I/O thread, and what is pending on it. The operations own it
// together with the socket.
class socket_state : public std::enable_shared_from_this<socket_state> {
 public:
  // `name` is the other end's address, or that on which it listens.
  socket_state(io_thread& thread, int fd, const socket_address& name) noexcept;
  // Nobody can have anything pending.
  ~socket_state();
  socket_state(const socket_state&) = delete;
  socket_state& operator=(const socket_state&) = delete;

  [[nodiscard]] io_thread& thread() const noexcept { return thread_; }
  [[nodiscard]] const socket_address& name() const noexcept { return name_; }
  [[nodiscard]] int fd() const noexcept { return socket_.fd; }
  // In a forked child: the I/O thread stayed in the parent, which still uses the socket.
  [[nodiscard]] bool is_abandoned() const noexcept;

  // -- on its I/O thread --------------------------------------------------------------------------
  // Hands an operation to the engine, or tells it at once why not: -EBADF when the socket is
  // closed, -EALREADY when another one is pending in the same direction.
  void start(socket_operation& op) noexcept;
  void start_again(socket_operation& op) noexcept;
  void cancel(socket_operation& op) noexcept;
  // An operation has its result.
  void ended(socket_operation& op) noexcept;
  [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }

  // -- from any thread ----------------------------------------------------------------------------
  // Calls off what is pending, and closes the descriptor when that has come back. In a forked child
  // closes the child's descriptor and touches nothing else.
  void close();
  // 0 or an errno.
  [[nodiscard]] int shutdown_send() noexcept;

 private:
  // In the queue of the I/O thread; keeps the socket until it came.
  struct close_note : detail::queued_job {
    std::shared_ptr<socket_state> of;
  };

  void close_here() noexcept;
  void close_descriptor_if_idle() noexcept;

  io_thread& thread_;
  // The I/O thread's.
  reactor_socket socket_;
  bool is_closing_ = false;

  const std::uint32_t process_;  // the fork generation it was made in
  const socket_address name_;
  close_note note_;
  std::mutex mutex_;
  bool close_asked_ = false;  // guarded by mutex_
};

}  // namespace weft::io
