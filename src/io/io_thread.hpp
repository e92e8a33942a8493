#pragma once

#include <memory>

#include <weft/core/lane.hpp>
#include <weft/coro/timer_queue.hpp>
#include <weft/io/engine.hpp>

namespace boost::asio {
class io_context;
}

namespace weft::io {

class reactor;

// A thread that waits for I/O, with an engine of its own, and runs what is posted to it.
//
// Jobs, completions and timers take turns: none keeps the others waiting for longer than the job
// that is running and a fifth of a millisecond.
class io_thread final : public lane, public coro::timer_queue {
 public:
  // Throws std::system_error when the engine or the thread cannot start. Not automatic.
  io_thread(unsigned index, io_engine engine);
  // Without a thread: the caller is it, during turn(). To try what can happen in every order.
  explicit io_thread(std::unique_ptr<reactor> engine);
  // Runs what was posted before.
  ~io_thread();

  void post(detail::queued_job& job) noexcept override;
  [[nodiscard]] bool is_here() const noexcept override;
  bool observe(const std::shared_ptr<observer>& o) override;

  // Jobs, timers and completions have their turn. False when it has ended and all is done.
  [[nodiscard]] bool turn() noexcept;

  // For this thread alone.
  [[nodiscard]] reactor& engine() noexcept;
  // Whether descriptors for its engine must be such that calls never wait.
  [[nodiscard]] bool is_nonblocking() const noexcept;
  // Asio's objects made with it complete on this thread, or on one beside it that is started the
  // first time; then throws std::system_error when that cannot start.
  [[nodiscard]] boost::asio::io_context& context();

 private:
  void sooner() noexcept override;

  struct loop;
  std::unique_ptr<loop> loop_;
};

}  // namespace weft::io
