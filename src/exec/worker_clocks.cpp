#include "worker_clocks.hpp"

#include <pthread.h>

namespace weft::exec {
namespace {

std::chrono::nanoseconds read(clockid_t clock) noexcept {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void worker_clocks::started(unsigned index) noexcept {
  clockid_t clock{};
  if (::pthread_getcpuclockid(::pthread_self(), &clock) != 0) return;
  const std::lock_guard lock(mutex_);
  clocks_[index] = clock;
}

void worker_clocks::stopped(unsigned index) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = clocks_.find(index);
  if (at == clocks_.end()) return;
  gone_ += read(at->second);
  clocks_.erase(at);
}

std::chrono::nanoseconds worker_clocks::total() const noexcept {
  const std::lock_guard lock(mutex_);
  std::chrono::nanoseconds sum = gone_;
  for (const auto& [index, clock] : clocks_) sum += read(clock);
  return sum;
}

}  // namespace weft::exec
