#pragma once

#include <condition_variable>
#include <mutex>

#include <weft/core/lane.hpp>

namespace weft::coro {

// The lane of a thread that waits: it runs what is posted, in order, until it is told to stop.
class thread_lane final : public lane {
 public:
  void post(detail::queued_job& job) noexcept override;
  [[nodiscard]] bool is_here() const noexcept override { return here() == this; }

  // Runs jobs until close(), which one of them, or another thread, calls.
  void run() noexcept;
  // The lane may be gone as soon as run() returns, so this is the caller's last touch.
  void close() noexcept;

  // The lane that this thread runs.
  static const lane*& here() noexcept;

 private:
  detail::queued_job* take() noexcept;  // null when closed

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  detail::job_list jobs_;
  bool closed_ = false;
};

}  // namespace weft::coro
