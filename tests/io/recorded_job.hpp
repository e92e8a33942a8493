#pragma once

#include <functional>
#include <latch>
#include <utility>

#include <weft/core/job.hpp>

namespace weft::test {

// A job that runs a function and tells what became of it. It must outlive its call.
class recorded_job : public detail::queued_job {
 public:
  explicit recorded_job(std::function<void()> body = [] {}) : body_(std::move(body)) {
    call = [](detail::job& self, detail::job_fate fate) noexcept {
      auto& own = static_cast<recorded_job&>(self);
      own.fate_ = fate;
      if (fate == detail::job_fate::run) own.body_();
      own.done_.count_down();
    };
  }

  // Waits for the call.
  [[nodiscard]] detail::job_fate fate() {
    done_.wait();
    return fate_;
  }
  [[nodiscard]] bool is_done() const { return done_.try_wait(); }

 private:
  std::function<void()> body_;
  detail::job_fate fate_ = detail::job_fate::drop;
  std::latch done_{1};
};

}  // namespace weft::test
