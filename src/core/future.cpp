#include <weft/core/future.hpp>

#include <new>
#include <vector>

namespace weft::detail {

std::string no_result_message(const char* name) {
  return std::string("weft: ") + name +
         " on a future without a result: it was never given one, was moved from, or get() or "
         "then() "
         "has used it up";
}

future_state_base::future_state_base(crew& c, phase first) noexcept
    : crew_(&c),
      process_(made_in_generation(c)),
      deterministic_(is_deterministic(c)),
      phase_(first) {
  call = &called;
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

void future_state_base::cancel() noexcept {
  abandon();
  fail(std::make_exception_ptr(cancelled()));
  done_.set();
}

void future_state_base::called(job& self, job_fate fate) noexcept {
  auto& me = static_cast<future_state_base&>(self);
  if (me.claim()) {
    if (fate == job_fate::run) {
      me.produce();
      me.done_.set();
    } else {
      me.cancel();
    }
  }
  me.release();
}

void future_state_base::request_stop() noexcept {
  if (claim()) {
    cancel();
  } else {
    stop_running();
  }
}

void future_state_base::finish() noexcept {
  done_.set();
  release();
}

// Walks from this job to one that can be run, and back as far as that has unblocked the others.
// Without recursion: chains of continuations are long. True when anything was run.
bool future_state_base::run_here() noexcept {
  std::vector<future_state_base*> path;  // from this job down, without it; each holds a reference
  future_state_base* s = this;
  bool ran = false;
  for (;;) {
    if (s->claim_if_ready()) {
      s->produce();
      s->done_.set();
      ran = true;
    } else if (s->phase_.load(std::memory_order_acquire) == phase::blocked) {
      future_state_base* const input = s->retain_input();
      if (input == nullptr) break;
      try {
        path.push_back(input);
      } catch (const std::bad_alloc&) {
        input->release();
        break;
      }
      s = input;
      continue;
    } else if (!s->done_.is_set()) {
      break;  // somebody else is at it
    }
    if (path.empty()) break;
    path.back()->release();
    path.pop_back();
    s = path.empty() ? this : path.back();
  }
  for (future_state_base* input : path) input->release();
  return ran;
}

void future_state_base::run_here_if_at_the_limit() noexcept {
  if (!must_run_inline(*crew_)) return;
  while (!done_.is_set() && run_here()) {
  }
}

void future_state_base::require_same_process(const char* name) const {
  if (process_ == process_generation()) return;
  throw used_after_fork(
      std::string("weft: ") + name +
      " in a forked child, on a future that was not ready before the fork: its job stayed in the "
      "parent; get() it before the fork, or submit it to a pool of the child");
}

void future_state_base::wait(const char* name) {
  if (done_.is_set()) return;
  require_same_process(name);
  run_here_if_at_the_limit();
  wait_for_result(done_, *crew_, deterministic_);
}

bool future_state_base::wait_until(std::chrono::steady_clock::time_point deadline,
                                   const char* name) {
  if (done_.is_set()) return true;
  require_same_process(name);
  run_here_if_at_the_limit();
  return wait_for_result_until(done_, *crew_, deterministic_, deadline);
}

}  // namespace weft::detail
