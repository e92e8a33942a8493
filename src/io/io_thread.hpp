#pragma once

#include <memory>
#include <string>

#include <weft/core/lane.hpp>
#include <weft/coro/timer_queue.hpp>

namespace boost::asio {
class io_context;
}

namespace weft::io {

// A thread that waits for I/O, with an engine of its own, and runs what is posted to it.
//
// Jobs, completions and timers take turns: none keeps the others waiting for longer than the job
// that is running and a fifth of a millisecond.
class io_thread final : public lane, public coro::timer_queue {
 public:
  // Throws std::system_error when the engine or the thread cannot start.
  explicit io_thread(const std::string& name);
  // Runs what was posted before.
  ~io_thread();

  void post(detail::queued_job& job) noexcept override;
  [[nodiscard]] bool is_here() const noexcept override;

  // The engine. Objects made with it complete on this thread.
  [[nodiscard]] boost::asio::io_context& context() noexcept;

 private:
  void sooner() noexcept override;

  struct engine;
  std::unique_ptr<engine> engine_;
};

}  // namespace weft::io
