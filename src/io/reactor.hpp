#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>

#include <weft/io/engine.hpp>
#include <weft/io/socket_operation.hpp>

namespace boost::asio {
class io_context;
}

namespace weft::io {

[[nodiscard]] constexpr bool is_input(socket_operation::kind k) noexcept {
  return k == socket_operation::kind::receive || k == socket_operation::kind::accept;
}

// How much one system call is asked to move: its result must fit in an int.
[[nodiscard]] constexpr std::size_t portion(const socket_operation& op) noexcept {
  return std::min(op.size, std::size_t{1} << 30);
}

// A descriptor as an engine sees it. Threads: the I/O thread to which it belongs.
struct reactor_socket {
  int fd = -1;
  // What is pending: a receive or an accept, a send or a connect.
  socket_operation* input = nullptr;
  socket_operation* output = nullptr;

  // The engine's. Whether trying is worth a system call.
  bool may_read = false;
  bool may_write = true;
  bool hung_up = false;     // there is always something to read: the end, or an error
  bool has_urgent = false;  // a read may end at the urgent byte, and there is more behind it
  bool is_watched = false;  // the engine has told the kernel about it

  [[nodiscard]] socket_operation*& slot(socket_operation::kind k) noexcept {
    return is_input(k) ? input : output;
  }
};

// The engine of one I/O thread.
//
// Threads: everything on that thread, the constructor too, except wake() and context(); the
// destructor when that thread has ended, which takes back from the kernel what is still asked of
// it.
class reactor {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr time_point at_once = time_point::min();
  static constexpr time_point whenever = time_point::max();
  // How long completions may go on before others have their turn.
  static constexpr auto turn = std::chrono::microseconds(200);

  reactor() = default;
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
  virtual ~reactor() = default;

  // Waits for events until then, unless there are some, and tells operations of their results. What
  // does not fit in a turn is left for the next call, which then does not wait.
  virtual void run_turn(time_point until) noexcept = 0;
  // From any thread: ends the wait, or the next one.
  virtual void wake() noexcept = 0;

  // The operation is told of its result, perhaps before this returns.
  virtual void start(socket_operation& op) noexcept = 0;
  // It will be told of its result soon: -ECANCELED unless it was done before. Never before this
  // returns.
  virtual void cancel(socket_operation& op) noexcept = 0;
  // The descriptor is about to be closed; nothing is pending on it.
  virtual void forget(reactor_socket& s) noexcept = 0;

  // Whether descriptors must be such that calls never wait. Some kernels take that for a wish not
  // to wait in io_uring either.
  [[nodiscard]] virtual bool wants_nonblocking() const noexcept = 0;
  // Null when Asio's objects need a thread of their own. Otherwise from any thread; what is done
  // with it begins after serve_asio().
  [[nodiscard]] virtual boost::asio::io_context* context() noexcept = 0;
  virtual void serve_asio() noexcept {}
};

// Throws std::system_error that says why the engine cannot start and what to do. Not automatic.
[[nodiscard]] std::unique_ptr<reactor> make_reactor(io_engine engine);
[[nodiscard]] std::unique_ptr<reactor> make_epoll_reactor();
[[nodiscard]] std::unique_ptr<reactor> make_uring_reactor();

}  // namespace weft::io
