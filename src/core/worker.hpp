#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/fork_context.hpp>
#include <weft/core/observer.hpp>
#include <weft/core/running.hpp>
#include <weft/core/stats.hpp>

#include "sleep.hpp"

namespace weft::detail {

class crew;

// One place at which jobs run: a deque, a bed, counters, and the loop that looks for work.
//
// A worker is occupied by one thread at a time: its own, or an outside thread that has borrowed the
// seat while the own one sleeps idle. All members but wake(), stats() and queue() belong to the
// occupant.
class worker final : public fork_context, private waiter {
 public:
  worker(crew& c, unsigned index, const atomic<std::uint64_t>& demand, bool fenced);

  // The body of the worker's own thread: returns when the pool ends.
  void run() noexcept;

  // Pushes a queued job, and wakes somebody if that helps.
  void push(queued_job& job) noexcept;
  // As push(), and takes what is older than this job before it.
  void push_last(queued_job& job) noexcept;
  // Runs other jobs, and sleeps when there are none, until the latch is set.
  void wait_until(latch& done) noexcept;
  // Sleeps until the latch is set and begins nothing: for waits that a job begun meanwhile could
  // hold up, such as one for a permit.
  void wait_without_helping(latch& done) noexcept;
  // As above until the deadline; false when it came first. Does not sleep: it naps between looks.
  bool wait_until(latch& done, std::chrono::steady_clock::time_point deadline) noexcept;
  // Runs jobs until the latch is set or none is left. For the deterministic pool.
  void run_until(const latch& done) noexcept;
  void run_all() noexcept;
  // As deep in jobs begun while waiting as is allowed: spawn should call, wait should only block.
  [[nodiscard]] bool at_nesting_limit() const noexcept;
  // Runs a queued job here and now.
  void run_inline(queued_job& job) noexcept;
  // Before the occupant leaves or blocks: what it has not run must be there for others.
  void publish_all() noexcept {
    show_only_job();
    deque_owner(queue_).publish_all();
  }

  // The job is about to sleep in a call, and comes back from it. False: it was there already.
  [[nodiscard]] bool blocks() noexcept {
    activity_.store(worker_activity::waiting, std::memory_order_relaxed);
    return !std::exchange(blocks_, true);
  }
  void unblocks() noexcept {
    blocks_ = false;
    activity_.store(worker_activity::running, std::memory_order_relaxed);
  }

  // The occupant comes from outside and leaves again. Who observes its coming, if anybody, is told
  // of its leaving, too.
  void guest_arrives(observer* told) noexcept {
    guest_told_ = told;
    if (told != nullptr) [[unlikely]]
      told->guest_arrives(index_);
    has_guest_.store(true, std::memory_order_relaxed);
    activity_.store(worker_activity::running, std::memory_order_relaxed);
  }
  void guest_leaves() noexcept {
    if (guest_told_ != nullptr) [[unlikely]]
      guest_told_->guest_leaves(index_);
    publish_all();
    has_guest_.store(false, std::memory_order_relaxed);
    activity_.store(worker_activity::asleep, std::memory_order_relaxed);
  }

  void count_spawn() noexcept { bump(spawned_); }

  // -- for everyone -------------------------------------------------------------------------------
  [[nodiscard]] deque_thief queue() noexcept { return deque_thief(queue_); }
  [[nodiscard]] bool has_jobs() noexcept { return queue().has_jobs() || !drawn_.empty(); }
  [[nodiscard]] worker_stats stats() noexcept;
  [[nodiscard]] crew& home() const noexcept { return crew_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] sleeper& bed() noexcept { return bed_; }

 private:
  friend class fork_context;
  using counter = atomic<std::uint64_t>;  // written by the occupant, read by stats(): no ordering

  static void bump(counter& c, std::uint64_t by = 1) noexcept {
    c.store(c.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  void work() noexcept;
  // Own work first, then work from outside, then a neighbour's.
  job_ref find_job() noexcept;
  job_ref take_own() noexcept;
  job_ref take_injected() noexcept;
  job_ref steal_from_others() noexcept;
  job_ref steal_from(worker& victim) noexcept;
  void note_place() noexcept;
  bool injector_is_due() noexcept;
  job_ref draw_job() noexcept;  // the deterministic pool's find_job()
  std::uint64_t random() noexcept;

  void execute(job_ref ref) noexcept;
  [[nodiscard]] job_fate fate_of(job_ref ref) noexcept;
  void execute_nested(job_ref job) noexcept;
  void offer_work() noexcept;
  [[gnu::cold]] void give_away() noexcept;
  [[gnu::cold]] void give_back(queued_job& job) noexcept;

  void show_only_job() noexcept;
  void begin_search() noexcept;
  void end_search() noexcept;
  void pause_between_looks(unsigned round) noexcept;
  void publish_for_the_busy() noexcept;
  bool sleep_idle() noexcept;          // false when the pool ends
  bool leave_surplus_seat() noexcept;  // likewise
  void sleep_at(latch& done) noexcept;
  // Returns the observer that was told of it, if any, to be told of the end, too.
  observer* note_falling_asleep(worker_activity as) noexcept;
  void note_waking(observer* told) noexcept;
  void note_helping() noexcept;
  bool may_help() const noexcept;

  void wake() noexcept override;  // by the thread that sets the latch we sleep at

  crew& crew_;
  const unsigned index_;
  bool searching_ = false;        // counted in sleep::word
  job* entrance_ = nullptr;       // the fork that lent this seat to a thread outside any pool
  std::int64_t older_first_ = 0;  // jobs that go before one that was pushed to go last
  bool blocks_ = false;           // inside blocking()
  // Pushed to go last when there was nothing else: is next all the same, and needs no deque. Empty
  // whenever this worker does not come back to find_job() at once.
  queued_job* only_job_ = nullptr;
  unsigned since_injector_ = 0;          // jobs since the last look at the injector
  std::int64_t last_injector_look_ = 0;  // steady clock, ns
  std::uint64_t random_state_;
  std::vector<job_ref> drawn_;  // deterministic pool: jobs taken out of the queues, not yet run

  alignas(64) sleeper bed_;
  // Set last by the thread that woke us from a latch; until then it may still touch this worker.
  atomic<bool> delivered_{false};
  counter spawned_{0}, executed_{0}, stolen_{0}, injected_{0}, dropped_{0}, parks_{0}, wakes_{0};
  atomic<std::uint32_t> nesting_{0};  // written by the occupant
  atomic<unsigned> cpu_{0};           // where it looked for work last; a hint for thieves
  atomic<worker_activity> activity_{worker_activity::asleep};  // written by the occupant
  atomic<bool> has_guest_{false};                              // likewise
  observer* guest_told_ = nullptr;                             // the guest's own
};

// Makes `w` the worker of this thread, null for none; returns the one before.
worker* occupy(worker* w) noexcept;

// The worker this thread occupies, or null.
[[nodiscard]] worker* current_worker() noexcept;

}  // namespace weft::detail
