#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/future.hpp>
#include <weft/core/latch.hpp>
#include <weft/coro/promise.hpp>
#include <weft/coro/task.hpp>
#include <weft/flow/alarm.hpp>
#include <weft/flow/due_times.hpp>
#include <weft/flow/group_state.hpp>
#include <weft/flow/instance_options.hpp>
#include <weft/flow/instance_place.hpp>

// What every group of instances does, whatever its instances are: it follows group_state, which
// decides, under one lock, and starts, stops and wakes outside it.
namespace weft::flow {

class attempt;
class group_core;

// What a group knows of one instance.
struct instance_record {
  explicit instance_record(std::size_t i) noexcept : index(i) {}

  const std::size_t index;

  // Written by the attempt while one is under way, else guarded by the group.
  std::exception_ptr error;
  outcome_kind how = outcome_kind::cancelled;  // unless something else happens

  // Guarded by the group.
  bool has_ended = false;
  bool asked_to_stop = false;
  bool was_told = false;  // that it was asked
  bool took_too_long = false;
  bool handed_out = false;
  unsigned attempts = 0;
  bool is_under_way = false;   // an attempt
  future<void> handle;         // of that
  attempt* held_by = nullptr;  // while an attempt is made: where it came to rest
  io::placement where;         // of the last attempt
};

// Held by the frame of an attempt: when that is gone, run to its end or dropped unbegun, the
// attempt has ended, and everything it held was released.
class attempt {
 public:
  explicit attempt(instance_record& record) noexcept : record_(&record), number_(record.attempts) {
    record.held_by = this;
  }
  attempt(attempt&& other) noexcept
      : record_(std::exchange(other.record_, nullptr)), number_(other.number_) {
    record_->held_by = this;
  }
  attempt& operator=(attempt&&) = delete;
  ~attempt();

  // From here on the group is told of its end.
  void arm(group_core& group) noexcept { group_ = &group; }

 private:
  group_core* group_ = nullptr;
  instance_record* record_;
  const unsigned number_;
};

// co_await group_wait(...): until the group is that far. False when the task was asked to stop
// meanwhile. One that was asked to stop before asks the group to stop, waits until nothing of it
// runs any more, and gets cancelled.
class group_wait final : public coro::wait {
 public:
  enum class until : std::uint8_t {
    joinable,
    idle,
    news,  // a result to hand out, or joinable
  };

  group_wait(group_core& group, until what) noexcept : group_(group), until_(what) {}
  group_wait(const group_wait&) = delete;
  group_wait& operator=(const group_wait&) = delete;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    return suspend(waiter.promise());
  }
  [[nodiscard]] bool await_resume();

 private:
  friend class group_core;

  [[nodiscard]] bool suspend(coro::promise_base& waiter) noexcept;
  // Whether it must look at every instance that ends.
  [[nodiscard]] bool reads() const noexcept { return until_ == until::news; }
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "instances"; }

  group_core& group_;
  const until until_;
  bool began_ = false;
  bool was_stopped_ = false;  // before it began to wait
  // Guarded by the group.
  bool called_off_ = false;
  bool is_queued_ = false;
  group_wait* next_ = nullptr;
};

// Until the group is that far. When the task is asked to stop, so is the group; the task goes on
// when nothing of it runs any more, and gets cancelled.
[[nodiscard]] task<void> wait_for(group_core& group, group_wait::until what);

// Threads: any. Lifetime: shared by the group's owner, by tickets, and by an alarm that is set. The
// owner closes it before it goes, so attempts need no share.
class group_core : public alarm_listener, public std::enable_shared_from_this<group_core> {
 public:
  group_core(const group_core&) = delete;
  group_core& operator=(const group_core&) = delete;

  // False: the group is complete.
  bool open_ticket() noexcept;
  void close_ticket() noexcept;
  void expect_no_more() noexcept;
  void complete() noexcept;
  void cancel() noexcept;
  // Asks also those to stop that were let finish.
  void stop_everything() noexcept;

  // Begins the time of total_timeout.
  void start_clock();
  // By the owner: nothing runs afterwards.
  void wait_until_idle() noexcept;
  // In a forked child: its instances stayed in the parent, and perhaps whoever held the lock.
  [[nodiscard]] bool is_abandoned() const noexcept;

  [[nodiscard]] group_progress progress() const noexcept;
  [[nodiscard]] group_end end() const noexcept;

 protected:
  group_core(instance_place where, const instance_options& options, task_kind kind,
             const char* call);
  virtual ~group_core() = default;

  [[nodiscard]] virtual instance_record& record_of(std::size_t index) noexcept = 0;
  [[nodiscard]] virtual task<void> make_attempt(instance_record& r, attempt a) = 0;

  using lock_type = std::unique_lock<std::mutex>;
  [[nodiscard]] lock_type lock() const noexcept { return lock_type(mutex_); }
  // With the lock, before a record is made. False: the group is complete.
  [[nodiscard]] bool may_add();
  // With the lock, after it. Gives the lock up.
  void added(lock_type& lock) noexcept;
  // As added(), for an instance of another kind or name than the others of the group.
  void added(lock_type& lock, instance_record& r, task_kind kind,
             const spawn_options& options) noexcept;

  // By an attempt that begins, where instance_options::timeout is given.
  void limit_attempt(instance_record& r);

  // With the lock: indices of those that have ended, in that order.
  [[nodiscard]] const std::vector<std::size_t>& ended_in_order() const noexcept { return ended_; }
  [[nodiscard]] group_state& state() noexcept { return state_; }

  const instance_place place_;
  const instance_options options_;  // without the name

 private:
  friend class attempt;
  friend class group_wait;
  void attempt_ended(instance_record& r, unsigned number) noexcept;
  void count_end(instance_record& r) noexcept;
  [[nodiscard]] outcome_kind judge(const instance_record& r) const noexcept;
  void alarm_ended(alarm& a) noexcept override;

  void settle(lock_type& lock) noexcept;
  void settle_end() noexcept;
  [[nodiscard]] alarm* set_alarm(detail::job_list& released) noexcept;
  [[nodiscard]] bool start_what_may(lock_type& lock) noexcept;
  [[nodiscard]] bool start(lock_type& lock, instance_record& r, task_kind kind,
                           const spawn_options& options) noexcept;
  void fail(instance_record& r, std::exception_ptr error) noexcept;
  void submit(const instance_place::ready_task& ready);
  void stop(lock_type& lock, instance_record& r) noexcept;
  void stop_those_asked(lock_type& lock) noexcept;
  enum class lateness : std::uint8_t { in_time, too_long };
  void stop_what_is_left(lock_type& lock, lateness how) noexcept;
  [[nodiscard]] bool is_over(const group_wait& w) const noexcept;
  void wake_waits(detail::job_list& released) noexcept;
  [[nodiscard]] bool needs_this_thread() noexcept;

  const std::string name_;
  const task_kind kind_;

  // Threads between the lock and the place. Raised with the lock; lowered (release) when the place
  // is not needed any more, for the owner (acquire), who may take it away then.
  atomic<unsigned> submitting_{0};

  mutable std::mutex mutex_;
  // The rest is guarded by mutex_.
  group_state state_;
  due_times due_;
  std::vector<std::size_t> ended_;
  std::size_t handed_out_ = 0;  // of ended_, by the stream
  group_wait* waits_ = nullptr;
  std::size_t readers_ = 0;  // of waits_
  alarm* alarm_ = nullptr;   // set, and not told yet
  std::minstd_rand random_;
  bool has_new_rest_ = false;  // for which no alarm was set
  bool end_is_settled_ = false;
  bool owner_waits_ = false;
  detail::latch idle_;

 protected:
  // With the lock: the next in order of completion that was not handed out; none yet.
  [[nodiscard]] instance_record* next_result() noexcept;
};

inline attempt::~attempt() {
  if (group_ != nullptr) group_->attempt_ended(*record_, number_);
}

}  // namespace weft::flow
