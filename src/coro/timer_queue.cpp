#include <weft/coro/timer_queue.hpp>

#include <condition_variable>
#include <thread>
#include <utility>

#include "coro/timer_thread.hpp"

namespace weft::coro {

bool timer_queue::add(timer_wait& w, time_point due) noexcept {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (w.at_ == timer_wait::phase::withdrawn) return false;
    const auto before = wheel_.next_due();
    wheel_.add(w, due);
    w.at_ = timer_wait::phase::queued;
    is_first = !before || wheel_.next_due() < before;
  }
  if (is_first) sooner();
  return true;
}

bool timer_queue::remove(timer_wait& w) noexcept {
  const std::lock_guard lock(mutex_);
  const bool was_queued = w.at_ == timer_wait::phase::queued;
  if (was_queued) wheel_.remove(w);
  if (w.at_ != timer_wait::phase::fired) w.at_ = timer_wait::phase::withdrawn;
  return was_queued;
}

detail::job_list timer_queue::expire(time_point now) noexcept {
  detail::job_list due;
  const std::lock_guard lock(mutex_);
  for (timer_node* node = wheel_.advance(now); node != nullptr;) {
    auto& w = static_cast<timer_wait&>(*node);
    node = node->next;
    w.at_ = timer_wait::phase::fired;
    due.push_back(*w.task);
  }
  return due;
}

std::optional<timer_queue::time_point> timer_queue::next_due() const noexcept {
  const std::lock_guard lock(mutex_);
  return wheel_.next_due();
}

namespace {

timer_queue*& own_queue() noexcept {
  static constinit thread_local timer_queue* own = nullptr;
  return own;
}

}  // namespace

timer_queue& timer_queue::here() {
  timer_queue* const own = own_queue();
  return own != nullptr ? *own : timer_thread::instance();
}

void timer_queue::set_here(timer_queue* own) noexcept { own_queue() = own; }

bool timer_wait::suspend(promise_base& waiter) {
  queue_ = &timer_queue::here();  // before anything is begun: the first one starts a thread
  task = &waiter;
  if (!waiter.waiting().begin(*this)) {
    queue_ = nullptr;
    return false;
  }
  return queue_->add(*this, due_);
}

void timer_wait::await_resume() {
  if (queue_ != nullptr) task->waiting().end();
  if (at_ != phase::fired) throw cancelled();
}

void timer_wait::give_up(detail::job_list& released) noexcept {
  if (queue_->remove(*this)) released.push_back(*task);
}

}  // namespace weft::coro
