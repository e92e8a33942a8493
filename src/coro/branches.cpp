#include <weft/coro/branches.hpp>

#include <new>

#include <weft/core/job_memory.hpp>

namespace weft::coro {
namespace {

// Branches that have not begun, as one job: a million of them must not fill a queue. It starts one,
// and leaves the others in the lane. None of them has ended, so the frame they are in is there.
class rest_of_branches final : public detail::queued_job, public detail::job_memory {
 public:
  rest_of_branches(const chain_starts& starts, lane& home, std::size_t begin, std::size_t end)
      : starts_(starts), home_(home), begin_(begin), end_(end) {
    call = &called;
  }

  // Posts all but the first, which is left to the caller.
  static void leave(const chain_starts& starts, lane& home, std::size_t begin, std::size_t end) {
    // Where the newest is taken first, thieves get the larger half and the others stay in order.
    if (home.order() == service_order::newest_first) {
      for (; end - begin > 1; end = begin + (end - begin) / 2) {
        post(starts, home, begin + (end - begin) / 2, end);
      }
    } else if (end - begin > 1) {
      post(starts, home, begin + 1, end);
    }
  }

 private:
  static void post(const chain_starts& starts, lane& home, std::size_t begin, std::size_t end) {
    if (auto* const rest = make(starts, home, begin, end)) return home.post(*rest);
    for (; begin < end; ++begin) home.post(starts[begin]);  // no memory: the frames are jobs, too
  }
  static rest_of_branches* make(const chain_starts& starts, lane& home, std::size_t begin,
                                std::size_t end) noexcept {
    try {
      return new rest_of_branches(starts, home, begin, end);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  static void called(detail::job& self, detail::job_fate fate) noexcept {
    auto& me = static_cast<rest_of_branches&>(self);
    promise_base& first = me.starts_[me.begin_];
    me.leave_others();  // *this may be gone
    first.call(first, fate);
  }
  void leave_others() noexcept {
    if (home_.order() == service_order::oldest_first && begin_ + 1 < end_) {
      ++begin_;
      return home_.post(*this);
    }
    leave(starts_, home_, begin_, end_);
    delete this;
  }

  const chain_starts starts_;
  lane& home_;
  std::size_t begin_;
  const std::size_t end_;
};

}  // namespace

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
  rest_of_branches::leave(starts, home, 0, count);
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
