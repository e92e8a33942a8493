#pragma once

#include <coroutine>

#include <weft/core/errors.hpp>
#include <weft/core/lane.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

class hop {
 public:
  explicit hop(lane& to) noexcept : to_(to) {}
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> task) noexcept {
    promise_base& me = task.promise();
    me.move_to(to_);
    if (to_.is_here()) return false;
    me.post();  // the frame may be gone
    return true;
  }
  void await_resume() noexcept {}

 private:
  lane& to_;
};

class yielding {
 public:
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <task_promise_type Promise>
  void await_suspend(std::coroutine_handle<Promise> task) noexcept {
    me_ = &task.promise();
    me_->home().post_last(*me_);  // the frame may be gone
  }
  void await_resume() const {
    if (me_->waiting().is_stopped()) throw cancelled();
  }

 private:
  promise_base* me_ = nullptr;
};

}  // namespace coro

// co_await schedule_on(pool): the task goes on as a job of that pool, from here to its end. Nothing
// happens when it is there already. Not a point where stopping is noticed, so that a task that
// cleans up can go where it must.
[[nodiscard]] inline coro::hop schedule_on(lane& to) noexcept { return coro::hop(to); }
[[nodiscard]] inline coro::hop schedule_on(pool& to) noexcept { return coro::hop(lane_of(to)); }

// co_await yield(): lets everything else that is queued in this lane go first. Throws cancelled
// when the task was asked to stop: what makes a long computation stoppable.
[[nodiscard]] inline coro::yielding yield() noexcept { return {}; }

}  // namespace weft
