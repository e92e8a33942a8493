#pragma once

#include <cstdint>
#include <exception>
#include <memory>
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
// Errors: wait() rethrows the first exception by order of spawning. The destructor waits and drops it.
// Cancellation: request_stop() reaches jobs that take a std::stop_token, and jobs that have not
//   started are dropped; wait() then throws cancelled if nothing else failed before.
class task_group {
 public:
  // On the pool whose job this is, else on pool::global().
  task_group();
  explicit task_group(pool& p) noexcept;
  ~task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  template <class F>
    requires job_callable<F>
  void spawn(F&& f);

  // The group can be used again afterwards.
  void wait();

  void request_stop() noexcept { stop_.request_stop(); }
  [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }

 private:
  template <class F>
  class group_job;

  void add() noexcept;
  void remove() noexcept;
  void note_error(std::uint64_t position, std::exception_ptr error) noexcept;
  void wait_for_all() noexcept;

  detail::crew& crew_;
  // Jobs not finished, plus one for the owner. acq_rel: the one who counts to zero has seen all.
  atomic<std::uint64_t> pending_{1};
  atomic<std::uint64_t> spawned_{0};  // positions, handed out by spawn()
  detail::latch done_;
  std::stop_source stop_;
  struct first_error;
  // Created by the first job that fails; guarded inside.
  atomic<first_error*> error_{nullptr};
};

template <class F>
class task_group::group_job final : public detail::queued_job, public detail::job_memory {
  static_assert(std::is_nothrow_destructible_v<F>,
                "weft: a spawned callable must have a destructor that does not throw");

 public:
  template <class G>
  group_job(task_group& group, std::uint64_t position, G&& f)
      : group_(&group), position_(position), f_(std::forward<G>(f)) {
    call = &called;
  }

 private:
  static void called(detail::job& self, detail::job_fate fate) noexcept {
    std::unique_ptr<group_job> me(static_cast<group_job*>(&self));
    task_group& group = *me->group_;
    const std::uint64_t position = me->position_;
    std::exception_ptr error;
    try {
      if (fate == detail::job_fate::drop || group.stop_.stop_requested()) throw cancelled();
      if constexpr (detail::takes_stop_token<F&>) {
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
  std::uint64_t position_;
  F f_;
};

template <class F>
  requires job_callable<F>
void task_group::spawn(F&& f) {
  detail::require_callable(f, "task_group::spawn");
  using job = group_job<std::decay_t<F>>;
  const std::uint64_t position = spawned_.fetch_add(1, std::memory_order_relaxed);  // just a number
  auto child = std::make_unique<job>(*this, position, std::forward<F>(f));
  add();
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
