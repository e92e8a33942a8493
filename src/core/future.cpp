#include <weft/core/future.hpp>

namespace weft::detail {

std::string no_result_message(const char* name) {
  return std::string("weft: ") + name +
         " on a future without a result: it was never given one, was moved from, or get() or "
         "then() "
         "has used it up";
}

void future_state_base::release() noexcept {
  // acq_rel: what the other holder did comes before the deletion.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void future_state_base::add_references(std::uint32_t count) noexcept {
  references_.fetch_add(count, std::memory_order_relaxed);  // by somebody who holds one
}

bool future_state_base::claim() noexcept {
  // acq_rel with unblock(): the claimer sees the result the job was blocked on.
  return phase_.exchange(phase::claimed, std::memory_order_acq_rel) != phase::claimed;
}

bool future_state_base::claim_if_ready() noexcept {
  auto ready = phase::ready;
  return phase_.compare_exchange_strong(ready, phase::claimed, std::memory_order_acq_rel);
}

void future_state_base::unblock() noexcept {
  auto blocked = phase::blocked;  // a stop request may have claimed it meanwhile
  phase_.compare_exchange_strong(blocked, phase::ready, std::memory_order_acq_rel);
}

void future_state_base::called(job& self, job_fate fate) noexcept {
  auto& me = static_cast<future_state_base&>(self);
  if (me.claim()) {
    if (fate == job_fate::run) {
      me.produce();
    } else {
      me.fail(std::make_exception_ptr(cancelled()));
    }
    me.done_.set();
  }
  me.release();
}

void future_state_base::request_stop() noexcept {
  if (claim()) {
    fail(std::make_exception_ptr(cancelled()));
    done_.set();
    return;
  }
  stop_.request_stop();
}

bool future_state_base::run_here() noexcept {
  if (claim_if_ready()) {
    produce();
    done_.set();
    return true;
  }
  return phase_.load(std::memory_order_acquire) == phase::blocked && run_an_input();
}

void future_state_base::wait() noexcept {
  if (done_.is_set()) return;
  if (must_run_inline(*crew_)) {
    while (!done_.is_set() && run_here()) {
    }
  }
  wait_for_result(done_, *crew_);
}

}  // namespace weft::detail
