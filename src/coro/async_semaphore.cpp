#include <weft/coro/async_semaphore.hpp>

#include <utility>

namespace weft::coro {

bool permit_wait::suspend(promise_base& waiter) noexcept {
  task = &waiter;
  if (!waiter.waiting().begin(*this)) {
    task = nullptr;
    return false;
  }
  // When it is queued, the frame may be gone already.
  const limiter::claim got = from_.take_or_queue(*this);
  if (got == limiter::claim::queued) return true;
  if (got == limiter::claim::taken) permit_ = from_.wrap();
  return false;
}

limiter::permit permit_wait::await_resume() {
  if (task != nullptr) task->waiting().end();
  if (!permit_) throw cancelled();
  return std::move(permit_);
}

void permit_wait::grant(limiter::permit p) noexcept {
  permit_ = std::move(p);
  task->post();  // the frame may be gone
}

void permit_wait::give_up(detail::job_list& released) noexcept {
  if (from_.withdraw(*this)) released.push_back(*task);
}

}  // namespace weft::coro
