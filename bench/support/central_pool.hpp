#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

// The pool that everybody writes once: threads around one std::deque under one mutex.
class central_pool {
 public:
  explicit central_pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  central_pool(const central_pool&) = delete;
  central_pool& operator=(const central_pool&) = delete;

  // Runs what is still queued, then ends the threads.
  ~central_pool() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  void submit(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;  // Guards jobs_ and closed_.
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool closed_ = false;
  std::vector<std::jthread>
      threads_;  // Last: the threads use everything above, and are joined first.
};

}  // namespace bench
