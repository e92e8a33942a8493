#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace weft::batch {

// Wakes the one who waits. A ring while nobody waits ends the next wait at once, so none is missed.
// It has a lock of its own: whoever rings may hold any other.
class bell {
 public:
  void ring() {
    {
      const std::lock_guard lock(mutex_);
      rung_ = true;
    }
    rings_.notify_one();
  }

  // Until somebody rings, or for so many seconds.
  void wait(std::optional<double> seconds) {
    std::unique_lock lock(mutex_);
    const auto rung = [this] { return rung_; };
    if (seconds) {
      rings_.wait_for(lock, std::chrono::duration<double>(*seconds), rung);
    } else {
      rings_.wait(lock, rung);
    }
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable rings_;
  bool rung_ = false;
};

}  // namespace weft::batch
