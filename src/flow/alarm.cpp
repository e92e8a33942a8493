#include <weft/flow/alarm.hpp>

#include <utility>

#include <weft/core/context.hpp>
#include <weft/core/lane.hpp>
#include <weft/coro/timer_queue.hpp>

namespace weft::flow {
namespace {

// Goes on in the thread that has seen that the time has come.
class on_the_spot final : public lane {
 public:
  void post(detail::queued_job& job) noexcept override { job.call(job, detail::job_fate::run); }
  [[nodiscard]] bool is_here() const noexcept override { return false; }
};

lane& anywhere() noexcept {
  static on_the_spot here;
  return here;
}

task<void> sleeps_until(std::chrono::steady_clock::time_point due) { co_await sleep_until(due); }

}  // namespace

void alarm::require_timers() { static_cast<void>(coro::timer_queue::here()); }

alarm::alarm(std::shared_ptr<alarm_listener> who, time_point due)
    : who_(std::move(who)), due_(due), sleep_(sleeps_until(due)) {
  sleep_.promise("alarm").start_chain(*this, anywhere());
}

void alarm::start() noexcept { sleep_.promise_if_any()->run(); }

void alarm::stop(detail::job_list& released) noexcept {
  sleep_.promise_if_any()->waiting().stop(released);
}

void alarm::ended(coro::promise_base& /*first*/) noexcept {
  who_->alarm_ended(*this);
  const context_scope nobody{
      context()};  // the thread still says that it runs the frame that goes now
  delete this;
}

}  // namespace weft::flow
