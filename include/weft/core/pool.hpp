#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/core/future.hpp>
#include <weft/core/job_types.hpp>
#include <weft/core/observer.hpp>
#include <weft/core/stats.hpp>

namespace weft {

// What happens to a submission from outside that finds max_pending jobs waiting.
enum class when_full : std::uint8_t {
  block,          // the caller waits until there is room
  reject,         // the caller gets a queue_full exception
  run_in_caller,  // the caller runs the job itself, outside the pool: pool::current() is not it
};

enum class shutdown_mode : std::uint8_t {
  drain,   // run everything that was submitted, then stop
  cancel,  // drop what has not started, ask the rest to stop, then stop
};

struct pool_options {
  // How many jobs run at once. 0: as many as affinity, CPU quota and WEFT_WORKERS allow.
  unsigned workers = 0;
  // How far resize() may go. 0: at least 64. Threads beyond `workers` are created when first
  // needed.
  unsigned max_workers = 0;
  // Threads are called name/0, name/1, ... in debuggers; the kernel keeps 15 characters.
  std::string name = "weft";
  // Binds worker i to the i-th CPU of the process's affinity mask.
  bool pin = false;
  // Stack of worker threads in bytes. 0: the system's default.
  std::size_t stack_size = 0;
  // Called on each worker thread with its index, first and last. Must not throw.
  std::function<void(unsigned)> on_thread_start = nullptr;
  std::function<void(unsigned)> on_thread_stop = nullptr;
  // Receives what a detached spawn() throws. Default: print it and terminate. Must not throw.
  std::function<void(std::exception_ptr)> on_unhandled = nullptr;
  // Submissions from outside the pool that may wait. 0: no limit.
  std::size_t max_pending = 0;
  when_full overflow = when_full::block;
  // A worker without work looks around this often, first busily, then yielding, before it sleeps.
  unsigned spin_limit = 64;
  unsigned yield_limit = 128;
  // How many jobs a waiting worker may begin on top of each other. Bounds stack use while waiting.
  unsigned nesting_limit = 64;
  // Is told what workers do. Must outlive the pool. Another one may come later, see observe().
  weft::observer* observer = nullptr;
  // A pool without threads that runs everything in the thread that waits, in an order drawn from
  // this seed. For tests: the same seed gives the same order.
  std::optional<std::uint64_t> deterministic_seed = std::nullopt;
  // false: never interrupt other threads (membarrier); forks then cost a fence each.
  bool asymmetric_fences = true;
};

// A work-stealing pool of threads that can be resized while it works.
//
// Threads: every member, from any thread, except that the destructor must not race with other
// calls. Blocks: run() and shutdown() until done; spawn() and submit() only with when_full::block.
// Errors: std::invalid_argument for options, empty callables and sizes out of range;
//   std::system_error when a thread cannot be created; pool_stopped after shutdown();
//   queue_full with when_full::reject; used_after_fork in a forked child.
// Lifetime: the destructor drains. Destroying a pool from one of its own jobs is a bug and aborts.
class pool {
 public:
  static constexpr unsigned workers_limit = 1024;  // of any pool

  explicit pool(pool_options options = {});
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  // Runs f in the pool, waits for it, returns what it returns and throws what it throws. The
  // calling thread takes part as one of the workers whenever one of them is idle. An f that takes a
  // std::stop_token gets the pool's.
  template <class F>
    requires runnable<F>
  auto run(F&& f) -> run_result_t<F>;

  // Runs f some time later. What it throws goes to pool_options::on_unhandled.
  template <class F>
    requires job_callable<F>
  void spawn(F&& f);

  // Runs f(args...) some time later; the future gets the result or the exception.
  template <class F, class... Args>
    requires submittable<F, Args...>
  auto submit(F&& f, Args&&... args) -> future<submit_result_t<F, Args...>>;

  // How many jobs run at once from now on, 1..max_workers(). Never waits: a worker too many leaves
  // when its job is done, and what it had queued is taken by the others.
  void resize(unsigned workers);
  [[nodiscard]] unsigned workers() const noexcept;
  [[nodiscard]] unsigned max_workers() const noexcept;

  // Ends the pool: no submissions from outside from now on; jobs may still spawn. Returns when the
  // threads are gone. Calling it again does nothing. From one of its own jobs: std::logic_error.
  void shutdown(shutdown_mode mode = shutdown_mode::drain);

  [[nodiscard]] pool_stats stats() const;
  // What each worker is doing, one line each, for a program that seems stuck.
  [[nodiscard]] std::string dump() const;

  // The observer is told what workers do from now on, and lives as long as the pool; null: nobody
  // is told. False when there is another one already.
  bool observe(const std::shared_ptr<weft::observer>& o);

  // Requested by shutdown(cancel).
  [[nodiscard]] std::stop_token stop_token() const noexcept;

  // The pool of this process, made on first use and never destroyed.
  static pool& global();
  // The pool whose job the calling thread is running, or null.
  static pool* current() noexcept;
  // current(), or global() outside any pool.
  static pool& here();

 private:
  friend class task_group;
  friend detail::crew& detail::crew_of(pool& p) noexcept;

  detail::crew* crew_;  // released, not deleted: see crew_reference
};

}  // namespace weft

#include <weft/core/pool_inl.hpp>
