#pragma once

#include <weft/core/context.hpp>
#include <weft/core/job.hpp>
#include <weft/core/pool.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/io/hybrid.hpp>

namespace weft {

// Where instances run, and on whose behalf: a pool, or the lanes of a hybrid scheduler. Made from
// either.
//
// Lifetime: the pool or scheduler outlives what runs there.
class instance_place {
 public:
  instance_place(pool& p) noexcept;               // NOLINT(google-explicit-constructor)
  instance_place(hybrid_scheduler& hs) noexcept;  // NOLINT(google-explicit-constructor)

  // The lane for a task of this kind. Throws pool_stopped; in a forked child, used_after_fork.
  [[nodiscard]] io::placement choose(task_kind kind, const spawn_options& options) const;

  // On an exception, pool_stopped or queue_full, the job was not queued.
  void submit(detail::queued_job& job, io::placement where) const;

  // co_await hop_to(where): the task goes on there.
  [[nodiscard]] coro::hop hop_to(io::placement where) const noexcept;

  [[nodiscard]] pool& cpu() const noexcept { return *pool_; }
  // Who is told of every task; null for a pool.
  [[nodiscard]] io::scheduler* scheduler() const noexcept {
    return scheduler_ != nullptr ? &scheduler_of(*scheduler_) : nullptr;
  }
  // On whose behalf.
  [[nodiscard]] const context& within() const noexcept { return context_; }
  void forget_context() noexcept { context_ = {}; }

 private:
  pool* pool_;
  hybrid_scheduler* scheduler_ = nullptr;  // null: the pool alone
  // Of whoever made the place: instances may be started by the thread on which another has ended.
  context context_ = context::current();
};

}  // namespace weft
