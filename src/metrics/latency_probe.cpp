#include "metrics/latency_probe.hpp"

#include <array>
#include <utility>

namespace weft::telemetry {
namespace {

constexpr std::array<double, 15> bounds = {1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.005,
                                           0.01, 0.05, 0.1,  0.5,  1,    5,    10};

}  // namespace

struct latency_probe::job : detail::queued_job {
  explicit job(std::shared_ptr<latency_probe> p) : probe(std::move(p)) { call = &job::run; }
  static void run(detail::job& self, detail::job_fate fate) noexcept {
    const std::unique_ptr<job> mine(static_cast<job*>(&self));
    if (fate == detail::job_fate::run) {
      mine->probe->arrived();
    } else {
      mine->probe->lost();
    }
  }
  std::shared_ptr<latency_probe> probe;
};

latency_probe::latency_probe() : latencies_(bounds) { due_.reserve(due_max); }

void latency_probe::send(lane& to) {
  auto made = std::make_unique<job>(shared_from_this());
  {
    const std::lock_guard lock(mutex_);
    if (due_.size() < due_max) due_.push_back(clock::now());
    if (due_.size() > 1) return;
    sender_ = std::this_thread::get_id();
  }
  to.post(*made.release());
  const std::lock_guard lock(mutex_);
  sender_ = {};
}

void latency_probe::arrived() noexcept {
  const std::lock_guard lock(mutex_);
  if (sender_ != std::this_thread::get_id()) {
    const auto now = clock::now();
    for (const auto since : due_) {
      latencies_.record(std::chrono::duration<double>(now - since).count());
    }
  }
  due_.clear();
}

void latency_probe::lost() noexcept {
  const std::lock_guard lock(mutex_);
  due_.clear();
}

histogram latency_probe::latencies() const {
  const std::lock_guard lock(mutex_);
  return latencies_;
}

}  // namespace weft::telemetry
