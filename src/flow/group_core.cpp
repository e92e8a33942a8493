#include <weft/flow/group_core.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/core/errors.hpp>

namespace weft::flow {
namespace {

using clock = std::chrono::steady_clock;

instance_options without_name(instance_options options) {
  options.name = {};
  return options;
}

group_rules rules_of(const instance_options& options, bool instances_add_others) {
  return {.join = options.join,
          .max_running = options.max_running,
          .retries = options.retry.times,
          .tolerated = options.tolerated,
          .instances_add_others = instances_add_others};
}

bool needs_timers(const instance_options& options) {
  return options.timeout || options.total_timeout ||
         (options.retry.times > 0 && options.retry.pause > options.retry.pause.zero());
}

bool ends_may_wait(const instance_options& options, bool instances_add_others) {
  return !instances_add_others && options.join.waits_for_all() && options.max_running == 0 &&
         options.retry.times == 0 && !options.timeout && !options.total_timeout &&
         !options.tolerated;
}

}  // namespace

group_core::group_core(instance_place where, const instance_options& options,
                       what_instances_are are, const char* call)
    : options_((check_options(options, call), without_name(options))),
      place_(std::move(where)),
      crew_(detail::crew_of(place_.cpu())),
      name_(options.name),
      kind_(are.kind),
      ends_may_wait_(ends_may_wait(options, are.add_others)),
      state_(rules_of(options, are.add_others)) {
  if (needs_timers(options)) {
    alarm::require_timers();
    random_.seed(std::random_device{}());
    due_ = due_times(clock::now(), options.timeout, options.total_timeout);
  }
}

void group_core::start_clock() {
  if (!options_.total_timeout) return;
  lock_type l = lock();
  settle(l);
}

// -- what is asked for ----------------------------------------------------------------------------

bool group_core::open_ticket() noexcept {
  if (is_abandoned()) return false;
  const lock_type l = lock();
  if (state_.tickets() == 0 && state_.progress().added > 0) attend_to_ends();
  return state_.open_ticket();
}

void group_core::close_ticket() noexcept {
  if (is_abandoned()) return;
  lock_type l = lock();
  state_.close_ticket();
  if (state_.tickets() == 0 && ends_may_wait_ && !ends_.is_closed()) {
    const std::size_t added = state_.progress().added;
    if (added > 0 && ends_.seal(added) == 0) count_left();
  }
  settle(l);
}

void group_core::expect_no_more() noexcept {
  lock_type l = lock();
  state_.expect_no_more();
  settle(l);
}

void group_core::complete() noexcept {
  if (is_abandoned()) return;
  lock_type l = lock();
  attend_to_ends();
  state_.complete();
  settle(l);
}

void group_core::cancel() noexcept {
  if (is_abandoned()) return;
  lock_type l = lock();
  attend_to_ends();
  state_.cancel();
  settle(l);
}

void group_core::stop_everything() noexcept {
  if (is_abandoned()) return;
  cancel();
  lock_type l = lock();
  stop_what_is_left(l, lateness::in_time);
}

void group_core::stop_what_is_left(lock_type& l, lateness how) noexcept {
  if (state_.progress().running == 0) return;
  for (std::size_t index = 0; index < state_.progress().added; ++index) {
    instance& i = instance_at(index);
    if (!i.is_under_way || i.asked_to_stop) continue;
    i.asked_to_stop = true;
    i.took_too_long = how == lateness::too_long;
  }
  stop_those_asked(l);
}

group_progress group_core::progress() noexcept {
  const lock_type l = lock();
  count_left();
  return state_.progress();
}

group_end group_core::end() const noexcept {
  const lock_type l = lock();
  return state_.end();
}

bool group_core::is_abandoned() const noexcept { return detail::process_generation() != process_; }

void group_core::require_same_process() const {
  if (!is_abandoned()) return;
  throw used_after_fork(
      "weft: adding an instance in a forked child: the others stayed in the parent; make a new "
      "group in the child, or fork before the group is made");
}

bool group_core::stays_if_abandoned() noexcept {
  if (!is_abandoned()) return false;
  itself_ = shared_from_this();
  return true;
}

void group_core::forget() noexcept {
  place_.forget_context();
  state_.forget_rule_error();
}

// -- instances begin ------------------------------------------------------------------------------

// Whoever adds starts its own instance and none that was taken before: where others may start,
// somebody is about to, and will come to this one if it has to wait for them.
void group_core::added(lock_type& l, instance& i) noexcept {
  i.index = *state_.add();
  if (i.index == end_tally::capacity) attend_to_ends();
  if (!state_.start_added(i.index)) return l.unlock();
  const spawn_options options{.name = name_, .lane = options_.lane};
  if (!start(l, i, started_by::adder, kind_, options)) settle(l);
}

void group_core::added(lock_type& l, instance& i, task_kind kind,
                       const spawn_options& options) noexcept {
  i.index = *state_.add();
  static_cast<void>(state_.start_next());
  if (!start(l, i, started_by::adder, kind, options)) settle(l);
}

// Gives the lock up. Or keeps it and returns true: some could not start, so the state has changed.
bool group_core::start_what_may(lock_type& l) noexcept {
  const spawn_options options{.name = name_, .lane = options_.lane};
  bool some_failed = false;
  while (const auto index = state_.start_next()) {
    const bool more = state_.can_start();
    if (!start(l, instance_at(*index), started_by::group, kind_, options)) {
      some_failed = true;
    } else if (more || some_failed) {
      l.lock();
    } else {
      return false;
    }
  }
  if (!some_failed) l.unlock();
  return some_failed;
}

void group_core::limit_attempt(instance& i) {
  lock_type l = lock();
  due_.started({.index = i.index, .number = i.attempts}, clock::now());
  detail::job_list released;
  alarm* const to_start = set_alarm(released);
  l.unlock();
  if (to_start != nullptr) to_start->start();
  coro::post_all(released);
}

// -- what follows ---------------------------------------------------------------------------------

// Ends every change: decides with the lock, then gives it up and acts.
void group_core::settle(lock_type& l) noexcept {
  bool ends = false;
  for (bool again = true; again; again = l.owns_lock()) {
    ends = settle_end() || ends;
    if (state_.is_idle()) due_.clear();
    detail::job_list released;
    alarm* const to_start = set_alarm(released);
    wake_waits(released);
    const bool tell_owner = state_.is_idle() && std::exchange(owner_waits_, false);
    if (std::exchange(ends, false) && state_.stops_running()) stop_those_asked(l);
    const bool some_failed = start_what_may(l);
    if (some_failed) {
      ends = settle_end();  // before anybody looks
      l.unlock();
    }
    if (to_start != nullptr) to_start->start();
    coro::post_all(released);
    if (tell_owner) idle_.set();
    if (some_failed) l.lock();
  }
}

// Everything that has not ended learns at once what it will be, if it gives no value: those that
// run are told one after the other, and may end meanwhile. Once; false: not now.
bool group_core::settle_end() noexcept {
  if (!state_.is_complete() || std::exchange(end_is_settled_, true)) return false;
  if (state_.end() == group_end::all_ended) return true;
  const bool late = state_.end() == group_end::timed_out;
  for (std::size_t index = 0; index < state_.progress().added; ++index) {
    instance& i = instance_at(index);
    if (i.has_ended) continue;
    if (i.is_under_way) {
      i.asked_to_stop = i.asked_to_stop || state_.stops_running();
      continue;
    }
    i.how = late ? outcome_kind::timed_out : outcome_kind::cancelled;
    keep_end(i);
  }
  return true;
}

void group_core::alarm_ended(alarm& /*a*/) noexcept {
  lock_type l = lock();
  alarm_ = nullptr;
  const due_times::due due = due_.take(clock::now());
  for (const due_times::attempt& a : due.too_long) {
    instance& i = instance_at(a.index);
    if (!i.is_under_way || i.attempts != a.number || i.asked_to_stop) continue;
    i.took_too_long = true;
    stop(l, i);
  }
  for (const std::size_t index : due.rested) static_cast<void>(state_.retry(index));
  if (due.total) {
    // What a join rule has let finish has no more time, either.
    if (state_.is_complete()) stop_what_is_left(l, lateness::too_long);
    state_.time_out();
  }
  settle(l);
}

// To be started without the lock; null: there is nothing to start.
alarm* group_core::set_alarm(detail::job_list& released) noexcept {
  has_new_rest_ = false;
  const auto next = due_.next();
  if (alarm_ == nullptr) {
    if (!next) return nullptr;
    alarm_ = new alarm(shared_from_this(), *next);
    return alarm_;
  }
  // One that is stopped ends now, and settle() sets the next.
  if (!next || *next < alarm_->due()) alarm_->stop(released);
  return nullptr;
}

void group_core::stop_those_asked(lock_type& l) noexcept {
  for (std::size_t index = 0; index < state_.progress().added; ++index) {
    instance& i = instance_at(index);
    if (i.asked_to_stop && !i.was_told && i.is_under_way) stop(l, i);
  }
}

// Without the lock in between: one that has not begun ends here.
void group_core::stop(lock_type& l, instance& i) noexcept {
  i.asked_to_stop = true;
  i.was_told = true;
  const unsigned attempt = i.attempts;
  l.unlock();
  if (i.stop(attempt)) withdrew(i);
  l.lock();
}

void group_core::stop_by_its_place(instance& i) noexcept {
  lock_type l = lock();
  if (state_.is_idle()) return;
  attend_to_ends();
  i.comes_no_more = true;
  if (!i.is_under_way) return;
  i.asked_to_stop = true;
  i.was_told = true;
  const unsigned attempt = i.attempts;
  l.unlock();
  if (i.stop(attempt)) withdrew(i);
}

// It has ended, and is in its lane still.
void group_core::withdrew(instance& i) noexcept {
  drop_item(i);
  lock_type l = lock();
  if (++in_lanes_ == 1) itself_ = shared_from_this();
  attend_to_ends();
  count_end(i);
  settle_after_end(l);
}

void group_core::withdrawn_left_its_lane() noexcept {
  std::shared_ptr<group_core> last;  // goes after the lock
  const lock_type l = lock();
  if (--in_lanes_ == 0) last = std::move(itself_);
}

instance* group_core::next_result() noexcept {
  order_left();
  for (;;) {
    instance* const i = last_handed_out_ == nullptr ? first_ended_ : last_handed_out_->next_ended;
    if (i == nullptr) return nullptr;
    last_handed_out_ = i;
    if (!std::exchange(i->handed_out, true)) return i;
  }
}

// -- waiting --------------------------------------------------------------------------------------

bool group_core::is_over(const group_wait& w) const noexcept {
  if (w.was_stopped_) return state_.is_idle();
  switch (w.until_) {
    case group_wait::until::joinable:
      return state_.is_joinable();
    case group_wait::until::idle:
      return state_.is_idle();
    case group_wait::until::news:
      return last_handed_out_ != last_ended_ || state_.is_joinable();
  }
  return true;
}

void group_core::wake_waits(detail::job_list& released) noexcept {
  for (group_wait** link = &waits_; *link != nullptr;) {
    group_wait& w = **link;
    if (!is_over(w)) {
      link = &w.next_;
      continue;
    }
    *link = w.next_;
    w.is_queued_ = false;
    if (w.reads()) --readers_;
    released.push_back(*w.task);
  }
}

void group_core::wait_until_idle() noexcept {
  bool is_idle = false;
  {
    const lock_type l = lock();
    is_idle = state_.is_idle();
    WEFT_ASSERT(is_idle || !needs_this_thread(),
                "a group of instances is destroyed on the I/O thread that they need to end; "
                "co_await join() or drain() before");
    owner_waits_ = !is_idle;
  }
  if (!is_idle) detail::wait_for_lending(idle_, detail::crew_of(place_.cpu()));
  wait_for_launches();
}

// With the lock.
bool group_core::needs_this_thread() noexcept {
  for (std::size_t index = 0; index < state_.progress().added; ++index) {
    if (instance_at(index).needs_this_thread()) return true;
  }
  return false;
}

}  // namespace weft::flow
