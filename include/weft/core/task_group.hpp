#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/base/atomic.hpp>
#include <weft/core/crew_access.hpp>
#include <weft/core/job_types.hpp>
#include <weft/core/latch.hpp>
#include <weft/core/pool.hpp>

namespace weft {

// Any number of jobs that are waited for together.
//
//   weft::task_group g;
//   for (auto& x : xs) g.spawn([&] { work(x); });
//   g.wait();
//
// Threads: spawn() from the thread that owns the group and from jobs of the group; wait() from the
//   owner. Blocks: wait() and the destructor, until every job is done; a worker helps, an outside
//   thread lends itself.
// Errors: wait() rethrows the first exception by order of spawning, jobs that jobs have spawned
//   counting after those of the owner. The destructor waits and drops it.
// Cancellation: request_stop() reaches jobs that take a std::stop_token, and jobs that have not
//   started are dropped; wait() then throws cancelled if nothing else failed before.
class task_group {
 public:
  // On the pool whose job this is, else on pool::global().
  task_group();
  explicit task_group(pool& p);
  ~task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  template <class F>
    requires job_callable<F>
  void spawn(F&& f);

  // The group can be used again afterwards; a stop request ends with it.
  void wait();

  void request_stop() noexcept { stop_.request_stop(); }
  [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }

 private:
  template <class F>
  class group_job;

  std::uint64_t add() noexcept;  // returns the position of the job
  void remove() noexcept;
  void note_error(std::uint64_t position, std::exception_ptr error) noexcept;
  void wait_for_all() noexcept;

  // -- read by everyone, written rarely -----------------------------------------------------------
  detail::crew& crew_;
  const void* const owner_;  // the thread that made the group, see add()
  std::stop_source stop_;
  std::mutex error_mutex_;
  // Guarded by error_mutex_ while jobs run: the failure of the job that was spawned first.
  std::exception_ptr error_;
  std::uint64_t error_position_ = 0;

  // -- the owner's: its spawns cost no atomic operation -------------------------------------------
  alignas(64) std::uint64_t spawned_here_ = 0;
  bool settled_ = false;  // wait_for_all() has put spawned_here_ into the account

  // -- everyone's ---------------------------------------------------------------------------------
  // `open` while the owner spawns, minus jobs finished, plus jobs spawned by jobs. wait_for_all()
  // settles the account: then it is the number of jobs left, and the one who counts to zero has
  // seen what all have done (acq_rel).
  static constexpr std::int64_t open = std::int64_t{1} << 62;
  alignas(64) atomic<std::int64_t> pending_{open};
  atomic<std::uint64_t> spawned_elsewhere_{0};
  detail::latch done_;
};

template <class F>
class task_group::group_job final : public detail::queued_job, public detail::job_memory {
  static_assert(std::is_nothrow_destructible_v<F>,
                "weft: a spawned callable must have a destructor that does not throw");

 public:
  template <class G>
  group_job(task_group& group, G&& f) : group_(&group), f_(std::forward<G>(f)) {
    call = &called;
  }
  void set_position(std::uint64_t position) noexcept { position_ = position; }

 private:
  static void called(detail::job& self, detail::job_fate fate) noexcept {
    std::unique_ptr<group_job> me(static_cast<group_job*>(&self));
    task_group& group = *me->group_;
    const std::uint64_t position = me->position_;
    std::exception_ptr error;
    try {
      if (fate == detail::job_fate::drop || group.stop_.stop_requested()) throw cancelled();
      if constexpr (detail::takes_stop_token<F&>) {
        // A pool that is cancelled asks its running jobs to stop.
        const std::stop_callback forward(detail::stop_token_of(group.crew_),
                                         [&group] { group.request_stop(); });
        me->f_(group.stop_.get_token());
      } else {
        me->f_();
      }
    } catch (...) {
      error = std::current_exception();
    }
    me.reset();  // what the callable holds is released before the group is told
    if (error) group.note_error(position, std::move(error));
    group.remove();  // the group may be gone from here on
  }

  task_group* group_;
  std::uint64_t position_ = 0;
  F f_;
};

template <class F>
  requires job_callable<F>
void task_group::spawn(F&& f) {
  detail::require_callable(f, "task_group::spawn");
  using job = group_job<std::decay_t<F>>;
  auto child = std::make_unique<job>(*this, std::forward<F>(f));
  child->set_position(add());
  if (detail::must_run_inline(crew_)) {
    detail::run_inline(crew_, *child.release());
    return;
  }
  try {
    detail::submit_job(crew_, *child, "task_group::spawn");
  } catch (...) {
    remove();
    throw;
  }
  static_cast<void>(child.release());
}

}  // namespace weft
