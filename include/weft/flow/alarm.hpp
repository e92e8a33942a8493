#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>

#include <weft/coro/promise.hpp>
#include <weft/coro/task.hpp>

namespace weft::flow {

class alarm;

// Somebody who is told when a time has come. On a thread that looks after timers, so soon.
class alarm_listener {
 public:
  // Once for each alarm, at its time or after stop(). Afterwards the alarm is gone.
  virtual void alarm_ended(alarm& a) noexcept = 0;

 protected:
  ~alarm_listener() = default;
};

// Tells its listener at a time, on no lane: one whose threads are all busy needs its alarms most.
// Deletes itself, and keeps its listener alive until then.
//
// Threads: start() once; stop() by whoever knows that the listener was not told yet.
class alarm final : public coro::chain_owner {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // Starts the thread for timers, if that has to be. Throws std::system_error.
  static void require_timers();

  // Throws std::bad_alloc.
  alarm(std::shared_ptr<alarm_listener> who, time_point due);
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  [[nodiscard]] time_point due() const noexcept { return due_; }
  // After this line it may be gone.
  void start() noexcept;
  // It ends early. The caller goes on with what this adds to `released`, after its locks.
  void stop(detail::job_list& released) noexcept;

 private:
  ~alarm() = default;
  void ended(coro::promise_base& first) noexcept override;
  [[nodiscard]] std::stop_token stop_token() noexcept override { return {}; }
  [[nodiscard]] std::string_view name() const noexcept override { return "alarm"; }

  const std::shared_ptr<alarm_listener> who_;
  const time_point due_;
  task<void> sleep_;
};

}  // namespace weft::flow
