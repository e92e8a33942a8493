#include <weft/flow/group_core.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/core/crew_access.hpp>
#include <weft/core/errors.hpp>

namespace weft::flow {
namespace {

using clock = std::chrono::steady_clock;

instance_options without_name(instance_options options) {
  options.name = {};
  return options;
}

group_rules rules_of(const instance_options& options) {
  return {.join = options.join,
          .max_running = options.max_running,
          .retries = options.retry.times,
          .tolerated = options.tolerated};
}

bool needs_timers(const instance_options& options) {
  return options.timeout || options.total_timeout ||
         (options.retry.times > 0 && options.retry.pause > options.retry.pause.zero());
}

}  // namespace

group_core::group_core(instance_place where, const instance_options& options, task_kind kind,
                       const char* call)
    : place_(std::move(where)),
      options_((check_options(options, call), without_name(options))),
      name_(options.name),
      kind_(kind),
      state_(rules_of(options)) {
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
  const lock_type l = lock();
  return state_.open_ticket();
}

void group_core::close_ticket() noexcept {
  lock_type l = lock();
  state_.close_ticket();
  settle(l);
}

void group_core::expect_no_more() noexcept {
  lock_type l = lock();
  state_.expect_no_more();
  settle(l);
}

void group_core::complete() noexcept {
  lock_type l = lock();
  state_.complete();
  settle(l);
}

void group_core::cancel() noexcept {
  lock_type l = lock();
  state_.cancel();
  settle(l);
}

void group_core::stop_everything() noexcept {
  cancel();
  lock_type l = lock();
  stop_what_is_left(l, lateness::in_time);
}

void group_core::stop_what_is_left(lock_type& l, lateness how) noexcept {
  for (std::size_t i = 0; i < state_.progress().added; ++i) {
    instance_record& r = record_of(i);
    if (!r.is_under_way || r.asked_to_stop) continue;
    r.asked_to_stop = true;
    r.took_too_long = how == lateness::too_long;
  }
  stop_those_asked(l);
}

group_progress group_core::progress() const noexcept {
  const lock_type l = lock();
  return state_.progress();
}

group_end group_core::end() const noexcept {
  const lock_type l = lock();
  return state_.end();
}

bool group_core::is_abandoned() const noexcept {
  return detail::is_abandoned(detail::crew_of(place_.cpu()));
}

namespace {

// The calls of submit() that this thread is in, innermost first: a lane that has ended runs what it
// is given on the spot, and that may be the owner of the group.
struct submission {
  const group_core* group;
  submission* outer;
};
constinit thread_local submission* innermost = nullptr;

unsigned submissions_here(const group_core& group) noexcept {
  unsigned count = 0;
  for (const submission* s = innermost; s != nullptr; s = s->outer) count += s->group == &group;
  return count;
}

}  // namespace

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
  // An instance that was stopped has ended, although who started it is still about to hand it to
  // its place. That is a matter of a moment.
  while (submitting_.load(std::memory_order_acquire) > submissions_here(*this)) yield_thread();
}

// Throws what the place does.
void group_core::submit(const instance_place::ready_task& ready) {
  submission here{.group = this, .outer = std::exchange(innermost, nullptr)};
  innermost = &here;
  std::exception_ptr refusal;
  try {
    place_.submit(ready);
  } catch (...) {
    refusal = std::current_exception();
  }
  innermost = here.outer;
  submitting_.fetch_sub(1, std::memory_order_release);
  if (refusal) std::rethrow_exception(std::move(refusal));
}

// With the lock.
bool group_core::needs_this_thread() noexcept {
  for (std::size_t i = 0; i < state_.progress().added; ++i) {
    const instance_record& r = record_of(i);
    if (r.is_under_way && place_.is_io_thread(r.where)) return true;
  }
  return false;
}

// -- instances begin ------------------------------------------------------------------------------

bool group_core::may_add() {
  if (state_.is_complete()) return false;
  // Room for the end of each, which cannot fail.
  const std::size_t count = state_.progress().added;
  if (ended_.capacity() <= count) ended_.reserve(std::max<std::size_t>(16, 2 * count));
  return true;
}

void group_core::added(lock_type& l) noexcept {
  static_cast<void>(state_.add());
  if (start_what_may(l)) settle(l);
}

void group_core::added(lock_type& l, instance_record& r, task_kind kind,
                       const spawn_options& options) noexcept {
  static_cast<void>(state_.add());
  static_cast<void>(state_.start_next());
  if (!start(l, r, kind, options)) settle(l);
}

// Gives the lock up. Or keeps it and returns true: some could not start, so the state has changed.
bool group_core::start_what_may(lock_type& l) noexcept {
  bool some_failed = false;
  while (const auto index = state_.start_next()) {
    const bool more = state_.can_start();
    if (!start(l, record_of(*index), kind_, {.name = name_, .lane = options_.lane})) {
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

// Gives the lock up. Or keeps it and returns false: the attempt has failed.
bool group_core::start(lock_type& l, instance_record& r, task_kind kind,
                       const spawn_options& options) noexcept {
  const unsigned number = ++r.attempts;
  r.how = outcome_kind::cancelled;
  r.asked_to_stop = false;
  r.was_told = false;
  r.took_too_long = false;
  instance_place::ready_task ready;
  try {
    const io::placement where = place_.choose(kind, options);
    r.where = where;
    ready = place_.prepare(make_attempt(r, attempt(r)), where, kind, options.name, r.handle);
  } catch (...) {
    fail(r, std::current_exception());
    return false;
  }
  r.held_by->arm(*this);
  r.is_under_way = true;
  submitting_.fetch_add(1, std::memory_order_relaxed);  // with the lock
  l.unlock();
  try {
    submit(ready);
  } catch (...) {
    l.lock();
    future<void> dropped;
    // Else it was stopped before it was refused.
    if (r.is_under_way && r.attempts == number) {
      dropped = std::move(r.handle);
      fail(r, std::current_exception());
    }
    l.unlock();
    dropped = {};  // with it goes the attempt, which takes the lock
    l.lock();
    return false;
  }
  return true;
}

void group_core::limit_attempt(instance_record& r) {
  lock_type l = lock();
  due_.started({.index = r.index, .number = r.attempts}, clock::now());
  detail::job_list released;
  alarm* const to_start = set_alarm(released);
  l.unlock();
  if (to_start != nullptr) to_start->start();
  coro::post_all(released);
}

void group_core::fail(instance_record& r, std::exception_ptr error) noexcept {
  r.error = std::move(error);
  r.how = outcome_kind::error;
  count_end(r);
}

// -- and end --------------------------------------------------------------------------------------

// Whoever was asked to stop and has no value did stop, whatever it threw.
outcome_kind group_core::judge(const instance_record& r) const noexcept {
  if (r.how == outcome_kind::value || !r.asked_to_stop) return r.how;
  const bool late = r.took_too_long || state_.end() == group_end::timed_out;
  return late ? outcome_kind::timed_out : outcome_kind::cancelled;
}

void group_core::count_end(instance_record& r) noexcept {
  r.is_under_way = false;
  r.handle = {};
  r.how = judge(r);
  if (r.how != outcome_kind::error) r.error = nullptr;
  if (state_.attempt_ended(r.index, r.how, r.attempts) == group_state::step::ended) {
    r.has_ended = true;
    ended_.push_back(r.index);
    return;
  }
  const double draw =
      static_cast<double>(random_() - random_.min()) / (random_.max() - random_.min());
  const auto pause = pause_before_retry(options_.retry, r.attempts, draw);
  if (pause <= pause.zero()) {
    static_cast<void>(state_.retry(r.index));
  } else {
    due_.rests(r.index, clock::now(), pause);
    has_new_rest_ = true;
  }
}

void group_core::attempt_ended(instance_record& r, unsigned number) noexcept {
  std::shared_ptr<group_core> keep;
  lock_type l = lock();
  if (!r.is_under_way || r.attempts != number) return;  // refused: was counted then
  count_end(r);
  // Most ends change nothing for anybody but the instance.
  if (!state_.is_complete() && !state_.can_start() && readers_ == 0 && !has_new_rest_) return;
  keep = shared_from_this();  // whoever waits may let the group go
  settle(l);
}

void group_core::alarm_ended(alarm& /*a*/) noexcept {
  lock_type l = lock();
  alarm_ = nullptr;
  const due_times::due due = due_.take(clock::now());
  for (const due_times::attempt& a : due.too_long) {
    instance_record& r = record_of(a.index);
    if (!r.handle.valid() || r.attempts != a.number || r.asked_to_stop) continue;
    r.took_too_long = true;
    stop(l, r);
  }
  for (const std::size_t index : due.rested) static_cast<void>(state_.retry(index));
  if (due.total) {
    // What a join rule has let finish has no more time, either.
    if (state_.is_complete()) stop_what_is_left(l, lateness::too_long);
    state_.time_out();
  }
  settle(l);
}

// -- what follows ---------------------------------------------------------------------------------

// Ends every change: decides with the lock, then gives it up and acts.
void group_core::settle(lock_type& l) noexcept {
  for (bool again = true; again; again = l.owns_lock()) {
    const bool ends = state_.is_complete() && !end_is_settled_;
    if (ends) settle_end();
    if (state_.is_idle()) due_.clear();
    detail::job_list released;
    alarm* const to_start = set_alarm(released);
    wake_waits(released);
    const bool tell_owner = state_.is_idle() && std::exchange(owner_waits_, false);
    if (ends && state_.stops_running()) stop_those_asked(l);
    const bool some_failed = start_what_may(l);
    if (some_failed) l.unlock();
    if (to_start != nullptr) to_start->start();
    coro::post_all(released);
    if (tell_owner) idle_.set();
    if (some_failed) l.lock();
  }
}

// Everything that has not ended learns at once what it will be, if it gives no value: those that
// run are told one after the other, and may end meanwhile.
void group_core::settle_end() noexcept {
  end_is_settled_ = true;
  if (state_.end() == group_end::all_ended) return;
  const bool late = state_.end() == group_end::timed_out;
  for (std::size_t i = 0; i < state_.progress().added; ++i) {
    instance_record& r = record_of(i);
    if (r.has_ended) continue;
    if (r.is_under_way) {
      r.asked_to_stop = r.asked_to_stop || state_.stops_running();
      continue;
    }
    r.has_ended = true;
    r.how = late ? outcome_kind::timed_out : outcome_kind::cancelled;
    r.error = nullptr;
    ended_.push_back(i);
  }
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
  for (std::size_t i = 0; i < state_.progress().added; ++i) {
    instance_record& r = record_of(i);
    if (r.asked_to_stop && !r.was_told && r.handle.valid()) stop(l, r);
  }
}

// Without the lock in between: one that has not begun is dropped here.
void group_core::stop(lock_type& l, instance_record& r) noexcept {
  r.asked_to_stop = true;
  r.was_told = true;
  detail::future_state<void>& job = state_of(r.handle, "stop");
  job.add_references(1);
  l.unlock();
  job.request_stop();
  job.release();
  l.lock();
}

instance_record* group_core::next_result() noexcept {
  while (handed_out_ < ended_.size()) {
    instance_record& r = record_of(ended_[handed_out_++]);
    if (!std::exchange(r.handed_out, true)) return &r;
  }
  return nullptr;
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
      return handed_out_ < ended_.size() || state_.is_joinable();
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
    readers_ -= w.reads() ? 1 : 0;
    released.push_back(*w.task);
  }
}

bool group_wait::suspend(coro::promise_base& waiter) noexcept {
  task = &waiter;
  began_ = waiter.waiting().begin(*this);
  if (!began_) {
    // It was asked to stop, and waits all the same: what runs may use what the task owns.
    was_stopped_ = true;
    group_.stop_everything();
  }
  const group_core::lock_type l = group_.lock();
  if (called_off_ || group_.is_over(*this)) return false;
  is_queued_ = true;
  group_.readers_ += reads() ? 1 : 0;
  next_ = std::exchange(group_.waits_, this);
  return true;  // when the lock is free the frame may be gone
}

// The task asks its group to stop when it has gone on. Doing that here could go on with other
// tasks, and with this one among them, which must not be.
void group_wait::give_up(detail::job_list& released) noexcept {
  const group_core::lock_type l = group_.lock();
  called_off_ = true;
  if (!std::exchange(is_queued_, false)) return;
  group_wait** link = &group_.waits_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  group_.readers_ -= reads() ? 1 : 0;
  released.push_back(*task);
}

bool group_wait::await_resume() {
  if (began_) task->waiting().end();
  if (was_stopped_) throw cancelled();
  return !called_off_;
}

weft::task<void> wait_for(group_core& group, group_wait::until what) {
  group_wait wait(group, what);
  if (co_await wait) co_return;
  group_wait until_it_has_stopped(group, what);
  static_cast<void>(co_await until_it_has_stopped);
}

}  // namespace weft::flow
