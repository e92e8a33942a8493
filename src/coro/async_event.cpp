#include <weft/coro/async_event.hpp>

#include <weft/base/assert.hpp>

namespace weft {

async_event::~async_event() {
  WEFT_ASSERT(first_ == nullptr,
              "an async_event is destroyed while tasks wait for it; let it outlive "
              "them");
}

void async_event::set() noexcept {
  detail::job_list ready;
  {
    const std::lock_guard lock(mutex_);
    is_set_ = true;
    for (coro::event_wait* w = first_; w != nullptr; w = w->next_) {
      w->link_ = nullptr;
      ready.push_back(*w->task);
    }
    first_ = nullptr;
  }
  coro::post_all(ready);
}

void async_event::reset() noexcept {
  const std::lock_guard lock(mutex_);
  is_set_ = false;
}

bool async_event::is_set() const noexcept {
  const std::lock_guard lock(mutex_);
  return is_set_;
}

namespace coro {

bool event_wait::suspend(promise_base& waiter) noexcept {
  if (!waiter.waiting().begin(*this)) {
    link_ = &next_;
    return false;
  }
  task = &waiter;
  const std::lock_guard lock(event_->mutex_);
  if (is_withdrawn() || event_->is_set_) return false;
  next_ = event_->first_;
  if (next_ != nullptr) next_->link_ = &next_;
  link_ = &event_->first_;
  event_->first_ = this;
  return true;  // when the lock is free the frame may be gone
}

void event_wait::await_resume() {
  if (task != nullptr) task->waiting().end();
  if (is_withdrawn()) throw cancelled();
}

void event_wait::give_up(detail::job_list& released) noexcept {
  const std::lock_guard lock(event_->mutex_);
  if (link_ != nullptr) {
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    released.push_back(*task);
  }
  link_ = &next_;
}

}  // namespace coro
}  // namespace weft
