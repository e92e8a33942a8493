#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <weft/core/job.hpp>
#include <weft/coro/task.hpp>
#include <weft/io/socket_operation.hpp>

namespace weft::io {

class socket_state;  // src/io/socket_state.hpp

// A task that waits for an operation on a socket.
//
// Everything happens on the I/O thread of the socket, so there is nothing to lock: elsewhere, a
// note is sent there to start the operation, and another one to call it off. That one may arrive
// when the operation has ended; then the task goes on only when it has arrived, because it lives in
// the task's frame.
class socket_wait : public coro::wait, public socket_operation {
 public:
  // To move no bytes there is nothing to wait for.
  [[nodiscard]] bool await_ready() const noexcept { return is_empty_; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    return suspend(waiter.promise());
  }

 protected:
  socket_wait(std::shared_ptr<socket_state> s, kind k, bytes b) noexcept
      : socket_operation(k, b), state_(std::move(s)), is_empty_(b.size == 0) {}
  socket_wait(std::shared_ptr<socket_state> s, kind k, address a) noexcept
      : socket_operation(k, a), state_(std::move(s)) {}
  ~socket_wait() = default;

  // After the task has gone on: the result, 0 or more; throws what went wrong.
  int finish() const;

 private:
  enum class phase : std::uint8_t { fresh, started, over };

  struct note : detail::queued_job {
    note() noexcept { call = nullptr; }
    socket_wait* to = nullptr;
  };

  [[nodiscard]] bool suspend(coro::promise_base& waiter) noexcept;
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override;
  void done() noexcept final;
  // With a result: whether there is nothing left to ask for.
  [[nodiscard]] virtual bool is_complete() noexcept { return true; }

  [[nodiscard]] bool start_here(coro::wait_state& waiting) noexcept;
  void start_note_came() noexcept;
  void cancel_note_came() noexcept;
  void start() noexcept;
  void go_on() noexcept;
  [[nodiscard]] bool awaits_note() const noexcept { return cancel_sent_ && !cancel_came_; }

  const std::shared_ptr<socket_state> state_;
  const bool is_empty_ = false;
  bool began_ = false;
  // The I/O thread's.
  phase at_ = phase::fresh;
  bool is_starting_ = false;
  bool cancel_came_ = false;
  // Written in give_up(), read after the wait has ended: that orders them.
  bool cancel_sent_ = false;
  // Made when they are sent, which is seldom.
  union {
    note start_;
  };
  union {
    note cancel_;
  };
};

class receive_wait final : public socket_wait {
 public:
  receive_wait(std::shared_ptr<socket_state> s, std::span<std::byte> into) noexcept
      : socket_wait(std::move(s), kind::receive, bytes{into.data(), into.size()}) {}
  std::size_t await_resume() const { return static_cast<std::size_t>(finish()); }
};

class send_wait final : public socket_wait {
 public:
  send_wait(std::shared_ptr<socket_state> s, std::span<const std::byte> from) noexcept
      : socket_wait(std::move(s), kind::send,
                    bytes{const_cast<std::byte*>(from.data()), from.size()}) {}
  void await_resume() const { static_cast<void>(finish()); }

 private:
  [[nodiscard]] bool is_complete() noexcept override;
};

}  // namespace weft::io
