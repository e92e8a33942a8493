#pragma once

// The templates of pool. Included by pool.hpp.

#include <weft/core/pool.hpp>

namespace weft {

template <class F>
  requires runnable<F>
auto pool::run(F&& f) -> run_result_t<F> {
  detail::require_callable(f, "pool::run");
  detail::crew& c = *crew_;
  auto call = [&]() -> run_result_t<F> {
    if constexpr (detail::takes_stop_token<F>) {
      return std::invoke(std::forward<F>(f), stop_token());
    } else {
      return std::invoke(std::forward<F>(f));
    }
  };
  if (detail::current_crew() == &c) return call();
  detail::require_open(c, "pool::run");
  {
    const detail::seat_loan seat(c);
    if (seat && detail::is_open(c)) return call();
  }
  detail::root_job<decltype(call)> job(call);
  detail::submit_job(c, job, "pool::run");
  detail::wait_for_result(job.done(), c, detail::is_deterministic(c));
  if constexpr (std::is_void_v<run_result_t<F>>) {
    job.take();
  } else {
    return job.take();
  }
}

template <class F>
  requires job_callable<F>
void pool::spawn(F&& f) {
  detail::require_callable(f, "pool::spawn");
  auto job = std::make_unique<detail::detached_job<std::decay_t<F>>>(*crew_, std::forward<F>(f));
  detail::submit_job(*crew_, *job, "pool::spawn");
  static_cast<void>(job.release());  // it deletes itself when it has run
}

template <class F, class... Args>
  requires submittable<F, Args...>
auto pool::submit(F&& f, Args&&... args) -> future<submit_result_t<F, Args...>> {
  using result = submit_result_t<F, Args...>;
  using job = detail::submitted_job<result, std::decay_t<F>, std::decay_t<Args>...>;
  detail::require_callable(f, "pool::submit");
  auto* state = new job(*crew_, std::forward<F>(f), std::forward<Args>(args)...);
  future<result> handle(state);
  try {
    detail::submit_job(*crew_, *state, "pool::submit");
  } catch (...) {
    state->release();  // the queue's reference
    throw;
  }
  return handle;
}

}  // namespace weft
