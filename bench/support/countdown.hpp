#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace bench {

// How an outside thread learns that its detached tasks are done: a counter, and the last task
// signals.
class countdown {
 public:
  explicit countdown(long count) : left_(count) {}

  void arrive() noexcept {
    if (left_.fetch_sub(1) != 1) return;
    const std::lock_guard lock(
        mutex_);  // Held while notifying: the waiter may destroy *this as soon as it returns.
    done_ = true;
    changed_.notify_one();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  alignas(64) std::atomic<long> left_;  // Written by every task; the mutex publishes `done_`, this
                                        // publishes nothing.
  alignas(64) std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

}  // namespace bench
