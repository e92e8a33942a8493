#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include <weft/base/atomic.hpp>
#include <weft/base/brief_lock.hpp>
#include <weft/core/crew_access.hpp>
#include <weft/core/latch.hpp>
#include <weft/coro/task.hpp>
#include <weft/flow/alarm.hpp>
#include <weft/flow/due_times.hpp>
#include <weft/flow/end_tally.hpp>
#include <weft/flow/group_state.hpp>
#include <weft/flow/group_wait.hpp>
#include <weft/flow/instance.hpp>
#include <weft/flow/instance_options.hpp>
#include <weft/flow/instance_place.hpp>

namespace weft::flow {

// What every group of instances does, whatever its instances are: it follows group_state, which
// decides, under one lock, and starts, stops and wakes outside it.
//
// Threads: any. Lifetime: shared by the group's owner, by tickets, by an alarm that is set, and by
// instances that have ended and are in a lane still. The owner closes it before it goes, so those
// that run need no share.
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
  // In a forked child: its instances stayed in the parent, and perhaps whoever held the lock. Then
  // it stays for ever, since coroutines that run there cannot be destroyed here.
  [[nodiscard]] bool stays_if_abandoned() noexcept;

  [[nodiscard]] group_progress progress() noexcept;
  [[nodiscard]] group_end end() const noexcept;

  // -- by its instances ---------------------------------------------------------------------------
  [[nodiscard]] bool ends_let_others_begin() const noexcept {
    return options_.max_running != 0 || options_.retry.times > 0;
  }
  // Of all that have no name of their own.
  [[nodiscard]] const context& within() const noexcept { return place_.within(); }
  // What it was to work on: it has ended without having run. Without the lock, for with an item a
  // ticket may go, and takes it.
  virtual void drop_item(instance& i) noexcept = 0;
  // Lets the hold go as soon as nothing can follow. After this line the group may be gone.
  void attempt_ended(instance& i, std::optional<io::others_may_follow>& hold) noexcept;
  // One that was asked to stop before it began was taken out of its lane. After this line the group
  // may be gone.
  void withdrawn_left_its_lane() noexcept;
  // The scheduler asks it to stop.
  void stop_by_its_place(instance& i) noexcept;

 protected:
  // What all its instances are.
  struct what_instances_are {
    task_kind kind = task_kind::function;
    bool add_others = false;
  };
  // `call` is to blame for bad options.
  group_core(instance_place where, const instance_options& options, what_instances_are are,
             const char* call);
  virtual ~group_core() = default;

  [[nodiscard]] virtual instance& instance_at(std::size_t index) noexcept = 0;
  [[nodiscard]] virtual task<void> make_attempt(instance& i) = 0;

  using lock_type = std::unique_lock<std::mutex>;
  [[nodiscard]] lock_type lock() const noexcept { return detail::lock_briefly(mutex_); }
  // Before an instance is added: throws used_after_fork.
  void require_same_process() const;
  // With the lock, before an instance is kept. False: the group is complete.
  [[nodiscard]] bool may_add() const noexcept { return !state_.is_complete(); }
  // With the lock, after it. Gives the lock up.
  void added(lock_type& lock, instance& i) noexcept;
  // As added(), for an instance of another kind or name than the others of the group.
  void added(lock_type& lock, instance& i, task_kind kind, const spawn_options& options) noexcept;

  // By an attempt that begins, where instance_options::timeout is given.
  void limit_attempt(instance& i);

  // With the lock: those that have ended, in that order, linked by next_ended.
  [[nodiscard]] instance* first_ended() noexcept {
    order_left();
    return first_ended_;
  }
  // With the lock: the next in order of completion that was not handed out; none yet.
  [[nodiscard]] instance* next_result() noexcept;
  [[nodiscard]] group_state& state() noexcept { return state_; }
  // On whose behalf instances ran, and what the predicate threw; when nothing runs any more.
  void forget() noexcept;

  const instance_options options_;  // without the name

 private:
  friend class group_wait;
  void count_end(instance& i) noexcept;
  void let_go_of_rest(lock_type& lock, instance& i) noexcept;
  [[nodiscard]] bool leave_with_lock(instance& i) noexcept;
  void count_left() noexcept;
  void order_left() noexcept;
  void attend_to_ends() noexcept;
  void keep_end(instance& i) noexcept;
  [[nodiscard]] outcome_kind judge(const instance& i) const noexcept;
  void alarm_ended(alarm& a) noexcept override;

  void settle(lock_type& lock) noexcept;
  void settle_after_end(lock_type& lock) noexcept;
  bool settle_end() noexcept;
  [[nodiscard]] alarm* set_alarm(detail::job_list& released) noexcept;
  [[nodiscard]] bool start_what_may(lock_type& lock) noexcept;
  enum class started_by : std::uint8_t {
    adder,  // who waits, is refused or runs it itself where there is no room
    group,  // which has taken it before
  };
  [[nodiscard]] bool start(lock_type& lock, instance& i, started_by whom, task_kind kind,
                           const spawn_options& options) noexcept;
  [[nodiscard]] std::exception_ptr launch(instance& i, started_by whom, task_kind kind,
                                          const spawn_options& options) noexcept;
  [[nodiscard]] std::exception_ptr give_up(instance& i) noexcept;
  void fail(lock_type& lock, instance& i, std::exception_ptr error) noexcept;
  void stop(lock_type& lock, instance& i) noexcept;
  void withdrew(instance& i) noexcept;
  void stop_those_asked(lock_type& lock) noexcept;
  enum class lateness : std::uint8_t { in_time, too_long };
  void stop_what_is_left(lock_type& lock, lateness how) noexcept;
  [[nodiscard]] bool is_over(const group_wait& w) const noexcept;
  void wake_waits(detail::job_list& released) noexcept;
  [[nodiscard]] bool is_abandoned() const noexcept;
  void launch_ended() noexcept;
  void wait_for_launches() noexcept;
  [[nodiscard]] bool needs_this_thread() noexcept;

  const std::uint32_t process_ = detail::process_generation();
  instance_place place_;
  const detail::crew_reference crew_;  // may go while an instance waits
  const std::string name_;
  const task_kind kind_;
  // Nothing follows from an end but that of the whole, so most instances may leave theirs.
  const bool ends_may_wait_;
  end_tally ends_;

  // Launches that have ended, on whatever thread: they need neither the place nor the group any
  // more. The owner, who waits for that, adds what makes the last of them see all_over; only that
  // one touches the group again, to tell. acq_rel: the owner knows what all of them did.
  static constexpr std::size_t all_over = ~std::size_t{0} / 2;
  alignas(64) atomic<std::size_t> launched_{0};
  detail::latch all_launched_;

  // The rest is guarded by mutex_. What every instance changes is in its cache line and in that of
  // the state, for both go from core to core with it.
  alignas(64) mutable std::mutex mutex_;
  std::size_t launches_ = 0;  // that have begun
  instance* last_ended_ = nullptr;
  std::uint32_t readers_ = 0;  // of waits_
  bool has_new_rest_ = false;  // for which no alarm was set
  group_state state_;

  instance* first_ended_ = nullptr;
  instance* last_handed_out_ = nullptr;  // by the stream
  due_times due_;
  std::size_t counted_ = 0;         // of those left in ends_
  std::uint32_t last_ordered_ = 0;  // of those left in ends_: who has its place among the ended
  group_wait* waits_ = nullptr;
  alarm* alarm_ = nullptr;  // set, and not told yet
  std::minstd_rand random_;
  bool end_is_settled_ = false;
  bool owner_waits_ = false;
  detail::latch idle_;
  // Instances that were withdrawn, less those that have left their lanes; for a moment one of those
  // may come before it is counted.
  std::ptrdiff_t in_lanes_ = 0;
  std::shared_ptr<group_core> itself_;  // while there are any
};

}  // namespace weft::flow
