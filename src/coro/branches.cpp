#include <weft/coro/branches.hpp>

namespace weft::coro {

bool branches::start(promise_base& parent, chain_starts starts) noexcept {
  task = &parent;
  starts_ = starts;
  const std::size_t count = starts.size();
  if (count == 0) return false;
  left_.store(count, std::memory_order_relaxed);  // posting publishes it
  // Before begin(): whoever asks this task to stop asks them, begun or not.
  lane& home = parent.home();
  for (std::size_t i = 0; i < count; ++i) starts[i].start_chain(*this, home);
  if (!parent.waiting().begin(*this)) {
    called_off_ = true;
    return false;
  }
  // The first of them has not begun, so nothing can end before the last line.
  if (home.order() == service_order::newest_first) {
    for (std::size_t i = count; --i > 0;) home.post(starts[i]);
  } else {
    for (std::size_t i = 1; i < count; ++i) home.post(starts[i]);
  }
  go_on(parent, starts[0]);
  return true;
}

void branches::finish() noexcept {
  if (starts_.size() > 0 && !called_off_) task->waiting().end();
}

void branches::count_end(promise_base& first) noexcept {
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  promise_base& waiter = parent();
  if (&waiter.home() == &first.home()) {
    go_on(first, waiter);
  } else {
    waiter.post();
  }
}

void branches::stop_branches(detail::job_list& released, const promise_base* except) noexcept {
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    promise_base& first = starts_[i];
    if (&first != except) first.waiting().stop(released);
  }
}

void branches::give_up(detail::job_list& released) noexcept { stop_branches(released); }

std::size_t any_branches::winner() const noexcept {
  // relaxed: the end of the last branch has published it.
  const promise_base* const won = winner_.load(std::memory_order_relaxed);
  std::size_t index = 0;
  while (&starts()[index] != won) ++index;
  return index;
}

void any_branches::ended(promise_base& first) noexcept {
  promise_base* none = nullptr;
  // relaxed: only the address counts; count_end() publishes.
  if (winner_.compare_exchange_strong(none, &first, std::memory_order_relaxed)) {
    stop_.request_stop();
    detail::job_list released;
    // This branch has not been counted, so neither the others nor the frame they are in can go.
    stop_branches(released, &first);
    post_all(released);
  }
  count_end(first);
}

void any_branches::give_up(detail::job_list& released) noexcept {
  stop_.request_stop();
  stop_branches(released);
}

}  // namespace weft::coro
