#pragma once

#include <memory>

#include <weft/core/lane.hpp>

#include "io/blocked_monitor.hpp"

namespace weft::io {

// The lane of a pool, for tasks whose work the monitor is to hear of: also of those that go on
// there after they have waited elsewhere.
class watched_lane final : public lane {
 public:
  // `monitor` may be null.
  watched_lane(lane& pool, blocked_monitor* monitor) noexcept : pool_(pool), monitor_(monitor) {}

  void post(detail::queued_job& job) noexcept override { told().post(job); }
  void post_last(detail::queued_job& job) noexcept override { told().post_last(job); }
  [[nodiscard]] bool is_here() const noexcept override { return pool_.is_here(); }
  [[nodiscard]] service_order order() const noexcept override { return pool_.order(); }
  bool observe(const std::shared_ptr<observer>& o) override { return pool_.observe(o); }

 private:
  // Before: afterwards the work may have ended, and this with it.
  [[nodiscard]] lane& told() noexcept {
    if (monitor_ != nullptr) monitor_->work_comes();
    return pool_;
  }

  lane& pool_;
  blocked_monitor* const monitor_;
};

}  // namespace weft::io
