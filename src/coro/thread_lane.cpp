#include "thread_lane.hpp"

#include <utility>

namespace weft::coro {

const lane*& thread_lane::here() noexcept {
  static constinit thread_local const lane* current = nullptr;
  return current;
}

void thread_lane::post(detail::queued_job& job) noexcept {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(job);
  changed_.notify_one();
}

void thread_lane::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

detail::queued_job* thread_lane::take() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
  return jobs_.pop_front();
}

void thread_lane::run() noexcept {
  const lane* const outer = std::exchange(here(), this);
  while (detail::queued_job* const job = take()) job->call(*job, detail::job_fate::run);
  here() = outer;
}

}  // namespace weft::coro
