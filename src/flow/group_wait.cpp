#include <weft/flow/group_wait.hpp>

#include <utility>

#include <weft/core/errors.hpp>
#include <weft/flow/group_core.hpp>

namespace weft::flow {

bool group_wait::suspend(coro::promise_base& waiter) noexcept {
  task = &waiter;
  began_ = waiter.waiting().begin(*this);
  if (!began_) {
    // It was asked to stop, and waits all the same: what runs may use what the task owns.
    was_stopped_ = true;
    group_.stop_everything();
  }
  const group_core::lock_type l = group_.lock();
  if (reads()) group_.attend_to_ends();
  if (called_off_ || group_.is_over(*this)) return false;
  is_queued_ = true;
  if (reads()) ++group_.readers_;
  next_ = std::exchange(group_.waits_, this);
  return true;  // when the lock is free the frame may be gone
}

// The task asks its group to stop when it has gone on. Doing that here could go on with other
// tasks, and with this one among them, which must not be.
void group_wait::give_up(detail::job_list& released) noexcept {
  const group_core::lock_type l = group_.lock();
  called_off_ = true;
  if (!std::exchange(is_queued_, false)) return;
  group_wait** link = &group_.waits_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  if (reads()) --group_.readers_;
  released.push_back(*task);
}

bool group_wait::await_resume() {
  if (began_) task->waiting().end();
  if (was_stopped_) throw cancelled();
  return !called_off_;
}

weft::task<void> wait_for(group_core& group, group_wait::until what) {
  group_wait wait(group, what);
  if (co_await wait) co_return;
  group_wait until_it_has_stopped(group, what);
  static_cast<void>(co_await until_it_has_stopped);
}

}  // namespace weft::flow
