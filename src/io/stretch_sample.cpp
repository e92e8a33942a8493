#include <time.h>

#include "io/scheduler.hpp"

namespace weft::io {
namespace {

std::chrono::nanoseconds cpu_time_of_this_thread() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

// A classifier that throws here is one that learns nothing.
stretch_sample::stretch_sample(scheduler& s, std::string_view name, task_kind kind) {
  if (name.empty()) return;
  try {
    if (!s.classifier()->wants_sample(name)) return;
    name_ = name;
  } catch (...) {
    return;
  }
  classifier_ = s.classifier();
  kind_ = kind;
  wall_ = std::chrono::steady_clock::now();
  cpu_ = cpu_time_of_this_thread();
}

stretch_sample::~stretch_sample() {
  if (classifier_ == nullptr) return;
  const auto cpu = cpu_time_of_this_thread() - cpu_;
  const auto wall = std::chrono::steady_clock::now() - wall_;
  try {
    classifier_->learn({.name = name_, .kind = kind_, .wall = wall, .cpu = cpu});
  } catch (...) {
    return;
  }
}

}  // namespace weft::io
