#include <weft/coro/await_future.hpp>

namespace weft::coro {

// The latch tells its waiter without a lock, so it is registered at first, and then at the chain;
// the gate keeps the frame here until both are done.
bool latch_wait::suspend(promise_base& who, detail::latch& done) noexcept {
  task = &who;
  done_ = &done;
  if (!done.try_register(*this)) return false;  // it is set
  began_ = who.waiting().begin(*this);
  if (!began_ && done.try_unregister(*this)) return false;  // asked to stop before
  return !passes_gate();
}

bool latch_wait::finish() noexcept {
  if (began_) task->waiting().end();
  return done_ == nullptr || done_->is_set();
}

bool latch_wait::passes_gate() noexcept {
  return gate_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void latch_wait::wake() noexcept {
  if (passes_gate()) task->post();  // the frame may be gone
}

void latch_wait::give_up(detail::job_list& released) noexcept {
  if (done_->try_unregister(*this) && passes_gate()) released.push_back(*task);
}

}  // namespace weft::coro
