#pragma once

namespace weft {

class context;

// Is told what the threads of a pool or another lane do: the seam through which traces are made.
//
// Install one with pool_options::observer, or while the pool works with pool::observe(). Without
// one, each place below costs one predictable branch. Forks that nobody steals are plain calls and
// are not reported. Jobs are named by an address, which the next one may have again.
//
// Threads: called by the thread that does it, several at once. `worker` is its number in the lane,
//   below workers_max.
// Errors: must not throw. Blocks: whatever it does delays that thread.
// Lifetime: may be called as long as the lane lives, also after another one was installed.
class observer {
 public:
  static constexpr unsigned workers_max = 1U << 16U;

  virtual ~observer() = default;

  // By whoever queues it, before it is queued.
  virtual void job_queued(const void* /*job*/) noexcept {}
  // By the same thread: it was not queued after all, but refused, dropped, or run by the caller.
  virtual void job_withdrawn(const void* /*job*/) noexcept {}
  virtual void job_begins(unsigned /*worker*/, const void* /*job*/) noexcept {}
  virtual void job_ends(unsigned /*worker*/) noexcept {}
  // A task goes on, in a job or beside them, and gives way or ends.
  virtual void task_begins(unsigned /*worker*/, const context& /*of*/) noexcept {}
  virtual void task_ends(unsigned /*worker*/) noexcept {}
  virtual void job_stolen(unsigned /*thief*/, unsigned /*victim*/, const void* /*job*/) noexcept {}
  // A thread from outside takes the place of the worker, and gives it back: pool::run().
  virtual void guest_arrives(unsigned /*worker*/) noexcept {}
  virtual void guest_leaves(unsigned /*worker*/) noexcept {}
  // It found nothing to do, and looks around.
  virtual void worker_searches(unsigned /*worker*/) noexcept {}
  // The job that it runs turns to others: it waits, or has to run at once what it has queued.
  virtual void worker_helps(unsigned /*worker*/) noexcept {}
  virtual void worker_sleeps(unsigned /*worker*/) noexcept {}
  virtual void worker_wakes(unsigned /*worker*/) noexcept {}
};

}  // namespace weft
