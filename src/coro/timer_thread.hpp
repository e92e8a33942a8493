#pragma once

#include <condition_variable>
#include <mutex>

#include <weft/coro/timer_queue.hpp>

namespace weft::coro {

// Looks after the timers of tasks in lanes that have nobody to do it: pools, and threads that wait.
class timer_thread final : public timer_queue {
 public:
  // Started by the first call, and again in a forked child; never ended. Throws std::system_error
  // when there can be no thread.
  static timer_thread& instance();

 private:
  timer_thread() = default;
  void sooner() noexcept override;
  [[noreturn]] void run() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_changed_ = false;  // guarded by mutex_
};

}  // namespace weft::coro
