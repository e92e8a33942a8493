#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <weft/coro/schedule_on.hpp>
#include <weft/coro/task.hpp>
#include <weft/io/endpoint.hpp>
#include <weft/io/socket_wait.hpp>

namespace weft {
class hybrid_scheduler;
}

namespace weft::io {

struct socket_address;  // src/io/address.hpp

// A TCP connection.
//
//   auto stream = co_await weft::io::tcp_stream::connect(hs, {.port = 7});
//   co_await stream.write_all(request);
//   std::size_t size = co_await stream.read_some(buffer);
//
// It belongs to one I/O thread for life. Its operations may be awaited in any lane; on that thread,
// to which co_await stream.io() moves a task, they need no hop. One read and one write at a time.
// When the task is asked to stop they throw weft::cancelled; a write may then have sent a part.
//
// Threads: a task that reads, one that writes, and whoever closes. Errors: std::system_error that
// says what was done and to whom; std::logic_error for a second read or write at once, and for one
// on a stream that was moved from; used_after_fork in a forked child, which has no I/O threads.
// Lifetime: the scheduler outlives it. Destroying it closes it; in a forked child, for the child
//   alone.
class tcp_stream {
 public:
  // Throws std::invalid_argument when the address is not numeric.
  static task<tcp_stream> connect(hybrid_scheduler& hs, endpoint to);
  // Takes over a descriptor of a TCP connection. Throws std::system_error, and then does not.
  static tcp_stream adopt(hybrid_scheduler& hs, int socket);

  tcp_stream(tcp_stream&&) noexcept = default;
  tcp_stream& operator=(tcp_stream&& other) noexcept;
  ~tcp_stream();

  // At least a byte, or 0 at the end, or when there is no room for any.
  [[nodiscard]] receive_wait read_some(std::span<std::byte> into);
  [[nodiscard]] send_wait write_all(std::span<const std::byte> from);
  // The other side reads to the end, and may still write.
  void shutdown_send();
  // What is pending ends with an error. Closing again does nothing.
  void close() noexcept;

  // co_await stream.io(): the task goes on on the thread of the socket.
  [[nodiscard]] coro::hop io();
  // The other end, for people: 127.0.0.1:80, [::1]:80.
  [[nodiscard]] std::string peer() const;
  // To set options. Is not the socket's any more once that is closed.
  [[nodiscard]] int native_handle() const;

 private:
  friend class tcp_listener;
  static task<tcp_stream> connect_to(hybrid_scheduler& hs, socket_address address);
  explicit tcp_stream(std::shared_ptr<socket_state> state) noexcept;

  std::shared_ptr<socket_state> state_;
};

// Waits for TCP connections on an address of this machine.
//
//   auto listener = weft::io::tcp_listener::listen(hs, {.port = 7});
//   for (;;) hs.spawn(serve(co_await listener.accept()));
//
// The connections belong to the I/O threads in turn.
// Threads, Errors, Lifetime: as for tcp_stream. After an error of accept(), as for want of
//   descriptors, it can be called again: the connection still waits.
class tcp_listener {
 public:
  // Throws std::invalid_argument when the address is not numeric, std::system_error when it cannot
  // listen there.
  static tcp_listener listen(hybrid_scheduler& hs, endpoint at);

  tcp_listener(tcp_listener&&) noexcept = default;
  tcp_listener& operator=(tcp_listener&& other) noexcept;
  ~tcp_listener();

  [[nodiscard]] task<tcp_stream> accept();
  [[nodiscard]] std::uint16_t port() const;
  void close() noexcept;

 private:
  static task<tcp_stream> accept_on(hybrid_scheduler& hs, std::shared_ptr<socket_state> state);
  tcp_listener(hybrid_scheduler& hs, std::shared_ptr<socket_state> state) noexcept;

  hybrid_scheduler* scheduler_;
  std::shared_ptr<socket_state> state_;
};

}  // namespace weft::io
