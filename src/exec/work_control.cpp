#include <weft/exec/work_control.hpp>

#include <weft/base/assert.hpp>
#include <weft/exec/errors.hpp>

namespace weft::detail {
namespace {

// What an exception says, as far as it can be told.
std::string describe(const std::exception_ptr& error) noexcept {
  try {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      const char* const what = e.what();
      return what != nullptr && *what != '\0' ? what : "an exception without a text";
    } catch (...) {
      return "an exception that is not a std::exception";
    }
  } catch (...) {
    return {};  // no memory for a text
  }
}

}  // namespace

work_control::work_control(pool& p, options with)
    : pool_(p), with_(with), admitted_(with.most_at_once) {}

work_control::~work_control() {
  WEFT_ASSERT(tally_.tasks == 0, "an executor is gone and its tasks are not");
  WEFT_ASSERT(tally_.maps == 0,
              "an executor is destroyed before a range that its map() returned; let the executor "
              "live longer");
}

bool work_control::is_inside_item() noexcept { return admission::innermost() != nullptr; }

bool work_control::is_inside_own_item() const noexcept {
  for (const admission* a = admission::innermost(); a != nullptr; a = a->outer_) {
    if (&a->control_ == this) return true;
  }
  return false;
}

std::exception_ptr work_control::why_cancelled() const {
  const std::lock_guard lock(mutex_);
  if (failure_ == nullptr) return std::make_exception_ptr(cancelled());
  return std::make_exception_ptr(executor_failed(
      "weft: the map was cancelled because a task of its executor failed (" + failure_text_ + ")"));
}

void work_control::record_failure(const std::exception_ptr& error) noexcept {
  if (!with_.fail_fast) return;
  std::string text = describe(error);  // calls the user's what(): not under the lock
  {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr) return;
    failure_ = error;
    failure_text_ = std::move(text);
  }
  cancel();
}

void work_control::count_stall() noexcept {
  const std::lock_guard lock(mutex_);
  ++tally_.stalls;
}

void work_control::close() noexcept {
  const std::lock_guard lock(mutex_);  // after this, nobody is in the middle of begin_work()
  closed_.request_stop();
}

void work_control::require_open(const char* name) const {
  if (closed_.stop_requested() && !is_inside_own_item()) throw_stopped(name);
}

void work_control::throw_stopped(const char* name) const {
  throw executor_stopped(std::string("weft: ") + name +
                         " after executor::shutdown(); make a new executor");
}

work_control::tally work_control::count() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

std::string work_control::first_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_text_;
}

void work_control::wait_for_tasks() noexcept {
  latch idle;
  {
    const std::lock_guard lock(mutex_);
    if (tally_.tasks == 0) return;
    waiting_for_tasks_.push_back(&idle);
  }
  crew& home = crew_of(pool_);
  wait_for_result(idle, home, is_deterministic(home));
}

bool work_control::wait_for_work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [this] { return tally_.tasks + tally_.maps > 0; });
  return stop.stop_requested();
}

bool work_control::wait_for(std::chrono::nanoseconds time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, deadline_after(time), [] { return false; });
  return stop.stop_requested();
}

void work_control::begin_work(std::size_t tally::* kind, const char* name) {
  if (is_abandoned(crew_of(pool_))) {
    throw used_after_fork(std::string("weft: ") + name +
                          " in a forked child; make an executor in the child");
  }
  const std::lock_guard lock(mutex_);
  require_open(name);
  if (failure_ != nullptr) {
    throw executor_failed(std::string("weft: ") + name + " after a task of this executor failed (" +
                          failure_text_ +
                          "); make a new executor, or use .on_error = on_error::keep_going");
  }
  if (tally_.tasks + tally_.maps == 0) changed_.notify_all();
  ++(tally_.*kind);
}

void work_control::end_work(std::size_t tally::* kind) noexcept {
  std::vector<latch*> waiting;
  {
    const std::lock_guard lock(mutex_);
    --(tally_.*kind);
    if (tally_.tasks == 0) waiting.swap(waiting_for_tasks_);
  }
  for (latch* idle : waiting) idle->set();
}

void work_control::count_items(std::size_t items) noexcept {
  const std::lock_guard lock(mutex_);
  tally_.items += items;
}

bool is_told_to_stop(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const cancelled&) {
    return true;
  } catch (const executor_stopped&) {
    return true;
  } catch (...) {
    return false;
  }
}

admission::admission(work_control& control, bool from_inside)
    : control_(control),
      permit_(from_inside || control.runs_in_caller() || work_control::is_inside_item()
                  ? limiter::permit()
                  : control.admitted_.acquire()),
      outer_(std::exchange(innermost(), this)) {}

admission::~admission() {
  innermost() = outer_;
  control_.count_items(items_);
}

const admission*& admission::innermost() noexcept {
  static thread_local const admission* of_this_thread = nullptr;
  return of_this_thread;
}

}  // namespace weft::detail
