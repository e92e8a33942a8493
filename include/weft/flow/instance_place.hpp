#pragma once

#include <string_view>

#include <weft/core/future.hpp>
#include <weft/core/pool.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/task.hpp>
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

  // A task that is whole and not queued yet, so that others can learn of it before it runs.
  struct ready_task {
    detail::future_state<void>* job = nullptr;
    io::placement where;
  };
  // The handle is the caller's, the task submit()'s.
  [[nodiscard]] ready_task prepare(task<void> t, io::placement where, task_kind kind,
                                   std::string_view name, future<void>& handle) const;
  // On an exception, pool_stopped or queue_full, the task goes with its handle.
  void submit(const ready_task& ready) const;

  // co_await hop_to(where): the task goes on there.
  [[nodiscard]] coro::hop hop_to(io::placement where) const noexcept;

  [[nodiscard]] pool& cpu() const noexcept { return *pool_; }
  // Whether the calling thread is the one that does the I/O there.
  [[nodiscard]] bool is_io_thread(io::placement where) const noexcept {
    return where.kind == lane_kind::io && where.lane->is_here();
  }

 private:
  pool* pool_;
  hybrid_scheduler* scheduler_ = nullptr;  // null: the pool alone
  // Of whoever made the place: instances may be started by the thread on which another has ended.
  context context_ = context::current();
};

}  // namespace weft
