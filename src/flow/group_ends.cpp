// How instances of a group end: what that counts as, and when it is counted.

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include <weft/flow/group_core.hpp>

namespace weft::flow {

void group_core::attempt_ended(instance& i, std::optional<io::others_may_follow>& hold) noexcept {
  // Those that are left without the lock are values, so that it is enough to know how many.
  if (ends_may_wait_ && i.how == outcome_kind::value && ends_.leave(i.index, i.left_before)) return;
  lock_type l = lock();
  let_go_of_rest(l, i);
  if (!leave_with_lock(i)) count_end(i);
  if (!state_.can_start()) hold.reset();  // before anybody is told that this was the last
  settle_after_end(l);
}

void group_core::fail(lock_type& l, instance& i, std::exception_ptr error) noexcept {
  i.error = std::move(error);
  i.how = outcome_kind::error;
  let_go_of_rest(l, i);
  count_end(i);
}

void group_core::settle_after_end(lock_type& l) noexcept {
  // Most ends change nothing for anybody but the instance.
  if (!state_.is_complete() && !state_.can_start() && readers_ == 0 && !has_new_rest_) {
    return l.unlock();
  }
  const std::shared_ptr<group_core> keep = shared_from_this();  // who waits may let the group go
  settle(l);
}

// Of what it threw if that is not its outcome, and of its item if it will not be begun again.
// Before it counts as ended or rests, and without the lock: both may use the group, or hold a
// ticket for it.
void group_core::let_go_of_rest(lock_type& l, instance& i) noexcept {
  bool has_item = i.attempts <= options_.retry.times;  // the last attempt has released its own
  for (;;) {
    const outcome_kind how = judge(i);
    const bool comes_again = !i.comes_no_more && state_.is_retried(how, i.attempts);
    const bool needs_no_item = has_item && how != outcome_kind::value && !comes_again;
    const bool needs_no_error = (how != outcome_kind::error || comes_again) && i.error != nullptr;
    if (!needs_no_item && !needs_no_error) return;
    // So it stays cancelled, whoever comes meanwhile.
    if (needs_no_item && how == outcome_kind::cancelled) i.asked_to_stop = i.was_told = true;
    l.unlock();
    if (needs_no_item) drop_item(i);
    if (needs_no_error) i.error = nullptr;
    l.lock();
    if (needs_no_item) has_item = false;
    // Withdrawn meanwhile.
    if (comes_again && state_.is_complete()) i.how = outcome_kind::cancelled;
  }
}

// Whoever was asked to stop and has no value did stop, whatever it threw.
outcome_kind group_core::judge(const instance& i) const noexcept {
  if (i.how == outcome_kind::value || !i.asked_to_stop) return i.how;
  const bool late = i.took_too_long || state_.end() == group_end::timed_out;
  return late ? outcome_kind::timed_out : outcome_kind::cancelled;
}

void group_core::count_end(instance& i) noexcept {
  i.is_under_way = false;
  i.how = judge(i);
  if (i.comes_no_more) {
    state_.ended(i.how);
    return keep_end(i);
  }
  if (state_.attempt_ended(i.index, i.how, i.attempts) == group_state::step::ended) {
    return keep_end(i);
  }
  const double draw =
      static_cast<double>(random_() - random_.min()) / (random_.max() - random_.min());
  const auto pause = pause_before_retry(options_.retry, i.attempts, draw);
  if (pause <= pause.zero()) {
    static_cast<void>(state_.retry(i.index));
  } else {
    due_.rests(i.index, std::chrono::steady_clock::now(), pause);
    has_new_rest_ = true;
  }
}

void group_core::keep_end(instance& i) noexcept {
  i.has_ended = true;
  (last_ended_ == nullptr ? first_ended_ : last_ended_->next_ended) = &i;
  last_ended_ = &i;
}

// -- ends that wait to be counted -----------------------------------------------------------------

// And counts it. False: it is to be counted as if there were no ends_. There is nothing to judge:
// whoever asks one to stop has closed them before.
bool group_core::leave_with_lock(instance& i) noexcept {
  if (!ends_may_wait_ || !ends_.leave_with_lock(i.index, i.left_before)) return false;
  const bool is_value = i.how == outcome_kind::value;
  if (!is_value) ++counted_;
  count_left();
  if (!is_value) state_.ended(i.how);
  return true;
}

// Whoever was left and is not counted is a value.
void group_core::count_left() noexcept {
  const std::size_t left = ends_.left();
  state_.values_ended(left - std::exchange(counted_, left));
}

// Gives those that were left their places among the ended: for who wants to know the order, or each
// of them. Walking over all of them takes as long as a spawn, and others wait meanwhile.
void group_core::order_left() noexcept {
  const std::uint32_t newest = ends_.newest();
  instance* first = nullptr;
  instance* last = nullptr;
  for (std::uint32_t left = newest; left != last_ordered_; left = first->left_before) {
    instance& i = instance_at(left - 1);
    i.is_under_way = false;
    i.has_ended = true;
    i.next_ended = std::exchange(first, &i);
    if (last == nullptr) last = &i;
  }
  last_ordered_ = newest;
  if (first == nullptr) return;
  (last_ended_ == nullptr ? first_ended_ : last_ended_->next_ended) = first;
  last_ended_ = last;
}

// From here on something may follow from an end. From those of a group that is complete nothing
// will: it is closed, or all have ended.
void group_core::attend_to_ends() noexcept {
  if (!ends_may_wait_ || state_.is_complete()) return;
  ends_.close();
  count_left();
  order_left();
}

}  // namespace weft::flow
