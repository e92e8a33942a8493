#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "clock.hpp"

namespace bench {

// Holds tasks until `count` threads run one each, so that a lazy pool has started all its threads.
// Gives up after two seconds: a library may run one thread fewer than it was asked for.
class rendezvous {
 public:
  explicit rendezvous(int count) : expected_(count) {}

  void arrive_and_wait() {
    arrived_.fetch_add(1);
    const auto give_up_at = now_ns() + 2'000'000'000;
    while (arrived_.load() < expected_ && now_ns() < give_up_at) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::atomic<int> arrived_ = 0;  // Written and read by every task; publishes nothing but itself.
  const int expected_;
};

}  // namespace bench
