#include <weft/coro/branches.hpp>

#include <algorithm>

namespace weft::coro {

bool branches::start(promise_base& parent, std::span<promise_base* const> firsts) noexcept {
  task = &parent;
  firsts_ = firsts;
  if (firsts.empty()) return false;
  left_.store(firsts.size(), std::memory_order_relaxed);  // posting publishes it
  // Before begin(): whoever asks this task to stop asks them, begun or not.
  for (promise_base* first : firsts) first->start_chain(*this, parent.home());
  if (!parent.waiting().begin(*this)) {
    called_off_ = true;
    return false;
  }
  // The first of them has not begun, so nothing can end before the last line.
  lane& home = parent.home();
  const auto others = firsts.subspan(1);
  if (home.order() == service_order::newest_first) {
    for (auto i = others.rbegin(); i != others.rend(); ++i) home.post(**i);
  } else {
    for (promise_base* other : others) home.post(*other);
  }
  go_on(parent, *firsts.front());
  return true;
}

void branches::finish() noexcept {
  if (!firsts_.empty() && !called_off_) task->waiting().end();
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
  for (promise_base* first : firsts_) {
    if (first != except) first->waiting().stop(released);
  }
}

void branches::give_up(detail::job_list& released) noexcept { stop_branches(released); }

std::size_t any_branches::winner() const noexcept {
  // relaxed: the end of the last branch has published it.
  promise_base* const won = winner_.load(std::memory_order_relaxed);
  const auto all = firsts();
  return static_cast<std::size_t>(std::ranges::find(all, won) - all.begin());
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
