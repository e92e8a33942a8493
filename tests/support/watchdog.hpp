#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <weft/core/pool.hpp>

#include <support/scale.hpp>

namespace weft::test {

// Ends the program when a test takes longer than its limit, after printing what the pool was doing.
class watchdog {
 public:
  explicit watchdog(
      std::chrono::seconds limit,
      std::function<std::string()> describe = [] { return std::string(); })
      : describe_(std::move(describe)),
        thread_([this, limit](const std::stop_token& stop) { guard(stop, limit); }) {
    // Afterwards the thread only sleeps: a test that forks does not copy the locks of its start.
    started_.wait();
  }
  watchdog(std::chrono::seconds limit, const pool& p)
      : watchdog(limit, [&p] { return p.dump(); }) {}

 private:
  void guard(const std::stop_token& stop, std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    started_.count_down();
    changed_.wait_for(lock, stop, limit * (under_sanitizer ? 5 : 1), [] { return false; });
    if (stop.stop_requested()) return;
    const std::string text = describe_();
    std::fprintf(stderr, "watchdog: no end after %lld s\n%s", static_cast<long long>(limit.count()),
                 text.c_str());
    std::abort();
  }

  std::function<std::string()> describe_;
  std::latch started_{1};
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace weft::test
