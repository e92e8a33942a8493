#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/core/blocking.hpp>
#include <weft/core/context.hpp>
#include <weft/core/lane.hpp>
#include <weft/core/pool.hpp>
#include <weft/coro/await_future.hpp>
#include <weft/coro/schedule_on.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/io/blocking_lane.hpp>
#include <weft/io/classifier.hpp>
#include <weft/io/cpu_class.hpp>
#include <weft/io/engine.hpp>
#include <weft/io/tracked_task.hpp>

namespace weft {

// A task of the CPU lane that sleeps in a call instead of computing.
struct blocked_task {
  std::string name;          // as given to spawn; "unnamed" when none was
  unsigned worker = 0;       // of the CPU lane
  bool compensated = false;  // whether another worker took its seat
};

// Something that shutdown() could not end.
struct unfinished_task {
  std::string name;
  lane_kind lane = lane_kind::cpu;
  std::string waits_for;  // empty while it runs or is queued
};

struct shutdown_limits {
  // How long tasks may go on by themselves.
  std::chrono::milliseconds let_run = std::chrono::seconds(30);
  // How long those that were asked to stop may take.
  std::chrono::milliseconds then_stop = std::chrono::seconds(5);
};

struct shutdown_report {
  bool stopped_early = false;               // some were asked to stop
  std::vector<unfinished_task> unfinished;  // and these have not
};

struct hybrid_options {
  // The CPU lane. Null: a pool of its own with so many workers, 0: as many as the process may use.
  pool* cpu_pool = nullptr;
  unsigned cpu_workers = 0;
  // Of the CPU lane's threads, when it owns them. `low` keeps I/O quick while the cores are full;
  // it cannot be undone.
  weft::cpu_class cpu_class = weft::cpu_class::normal;
  // Threads for I/O, 1 to 64. Each has an engine of its own, and what begins on one stays there.
  unsigned io_threads = 1;
  io_engine engine = io_engine::automatic;
  // Threads for calls that sleep.
  io::blocking_lane_options blocking = {};
  // Chooses the lane where the program does not. Null: by kind, see kind_classifier.
  std::shared_ptr<task_classifier> classifier = nullptr;
  // A CPU task that has slept for so long, while others are queued, is reported once for its name,
  // and another worker takes its seat. 0: nobody looks. Needs a CPU lane of its own.
  std::chrono::milliseconds blocked_after = std::chrono::milliseconds(20);
  // Default: a line on stderr. Must not throw.
  std::function<void(const blocked_task&)> on_blocked = nullptr;
  // Receives what a task throws, but for cancelled, whose future was dropped before. Default: print
  // it and terminate. Must not throw.
  std::function<void(std::exception_ptr)> on_unhandled = nullptr;
};

struct spawn_options {
  // For people, and for classifiers that learn; is copied. (Not a std::string: g++ 12 copies one
  // bit by bit when it is made in an expression with a co_await.)
  std::string_view name = {};
  std::optional<lane_kind> lane = std::nullopt;  // the program's choice; always wins
  // On whose behalf; under a name the task is a part of it. Null: as the caller.
  const weft::context* context = nullptr;
};

struct named_lane {
  std::string name;
  std::string_view task_type;  // as telemetry has it
  weft::lane& lane;
};

struct hybrid_stats {
  pool_stats cpu;
  io::blocking_lane_stats blocking;
  unsigned io_threads = 0;
  io_engine engine = io_engine::automatic;  // never automatic while it runs
  std::uint64_t spawned = 0;
  std::uint64_t completed = 0;
  std::size_t live = 0;
};

// The result of a spawned task. Unlike a plain future it may be dropped: the task goes on, and what
// it throws goes to hybrid_options::on_unhandled, unless it is that it was cancelled.
template <class T>
class spawned : public future<T> {
 public:
  explicit spawned(future<T> f) noexcept : future<T>(std::move(f)) {}
};

namespace io {

class scheduler;  // src/io/scheduler.hpp

// co_await hs.blocking(): refuses when the lane is full.
class blocking_hop {
 public:
  explicit blocking_hop(scheduler& s) noexcept : scheduler_(s) {}
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> task) {
    return move(task.promise());
  }
  void await_resume() noexcept {}

 private:
  [[nodiscard]] bool move(coro::promise_base& task);
  scheduler& scheduler_;
};

template <class T>
struct task_result {
  using type = T;
  static constexpr task_kind kind = task_kind::function;
};
template <class T>
struct task_result<task<T>> {
  using type = T;
  static constexpr task_kind kind = task_kind::coroutine;
};

// A function as a task: it gets the stop token if it wants one. What it captures lives until the
// end, also where it is a coroutine itself.
template <class F>
task<typename task_result<run_result_t<F>>::type> as_task(F f) {
  constexpr bool is_coroutine = task_result<run_result_t<F>>::kind == task_kind::coroutine;
  if constexpr (detail::takes_stop_token<F>) {
    auto token = co_await this_task::stop_token();
    if constexpr (is_coroutine) {
      co_return co_await std::invoke(f, std::move(token));
    } else {
      co_return std::invoke(std::move(f), std::move(token));
    }
  } else if constexpr (is_coroutine) {
    co_return co_await std::invoke(f);
  } else {
    co_return std::invoke(std::move(f));
  }
}

}  // namespace io

// Runs what computes, what waits for I/O and what sleeps in calls on threads of three kinds, so
// that none holds up the others.
//
//   weft::hybrid_scheduler hs;
//   auto page = hs.spawn(fetch("a"), {.name = "fetch"});     // a coroutine: I/O lane
//   auto sum = hs.spawn([] { return crunch(); });            // a function: CPU lane
//   hs.spawn_blocking([] { legacy_read(); });
//   co_await hs.cpu();                                       // inside a task: the rest runs there
//
// Threads: every member, from any thread, except that the destructor must not race with other
// calls. Blocks: shutdown() and the destructor. Errors: std::invalid_argument for options and empty
// functions; std::system_error when a thread or
//   the I/O engine cannot start, and then nothing is left behind; pool_stopped after shutdown();
//   queue_full when the blocking lane is.
// Lifetime: the destructor asks everything to stop and waits for it, however long that takes;
//   shutdown() before it gives time and sets limits. Not from one of its own tasks. In a forked
//   child the threads are missing: spawn throws used_after_fork, shutdown() and the destructor do
//   nothing.
class hybrid_scheduler {
 public:
  explicit hybrid_scheduler(hybrid_options options = {});
  ~hybrid_scheduler();
  hybrid_scheduler(const hybrid_scheduler&) = delete;
  hybrid_scheduler& operator=(const hybrid_scheduler&) = delete;

  // In the lane that spawn_options, else the classifier says. A function that returns a task counts
  // as that task.
  template <class T>
  spawned<T> spawn(task<T> t, spawn_options options = {}) {
    return start(std::move(t), task_kind::coroutine, options);
  }
  template <class F>
    requires runnable<F>
  auto spawn(F&& f, spawn_options options = {}) {
    return start(make_task(std::forward<F>(f), "spawn"),
                 io::task_result<run_result_t<std::decay_t<F>>>::kind, options);
  }

  // A task, or a function, in the lane of that name.
  template <class Work>
  auto spawn_cpu(Work&& w, spawn_options options = {}) {
    options.lane = lane_kind::cpu;
    return spawn(std::forward<Work>(w), options);
  }
  template <class Work>
  auto spawn_io(Work&& w, spawn_options options = {}) {
    options.lane = lane_kind::io;
    return spawn(std::forward<Work>(w), options);
  }
  template <class Work>
  auto spawn_blocking(Work&& w, spawn_options options = {}) {
    options.lane = lane_kind::blocking;
    return spawn(std::forward<Work>(w), options);
  }

  // co_await hs.cpu(), hs.io(), hs.blocking(): the task goes on in that lane, from here to its end.
  [[nodiscard]] coro::hop cpu() noexcept;
  [[nodiscard]] coro::hop io() noexcept;
  // Throws queue_full when too many wait there already.
  [[nodiscard]] io::blocking_hop blocking() noexcept { return io::blocking_hop(*scheduler_); }

  // No new tasks from outside; lets tasks run, then asks them to stop, then says which have not.
  // They go on. Calling it again goes on where the last call has ended. From one of its own tasks:
  // std::logic_error.
  shutdown_report shutdown(shutdown_limits limits = {});

  [[nodiscard]] hybrid_stats stats() const;
  // Every task that was spawned and has not ended: its name, its lane, and what it waits for.
  [[nodiscard]] std::string dump() const;
  // Where tasks of this name go, and why.
  [[nodiscard]] std::string explain(std::string_view name) const;

  [[nodiscard]] pool& cpu_pool() noexcept;
  // Its lanes, to be observed: "cpu", "io 0", "io 1" ..., "blocking".
  [[nodiscard]] std::vector<named_lane> lanes();
  // Which one runs: epoll or io_uring.
  [[nodiscard]] io_engine engine() const noexcept;

 private:
  friend io::scheduler& scheduler_of(hybrid_scheduler& hs) noexcept;

  template <class F>
  static auto make_task(F&& f, const char* name) {
    detail::require_callable(f, name);
    return io::as_task<std::decay_t<F>>(std::forward<F>(f));
  }
  template <class T>
  spawned<T> start(task<T> t, task_kind kind, const spawn_options& options) {
    static_cast<void>(t.promise("hybrid_scheduler::spawn"));
    const io::placement where = io::place(*scheduler_, kind, options);
    auto* job =
        new io::hybrid_job<T>(*scheduler_, where, kind, std::move(t), options.name,
                              options.context != nullptr ? *options.context : context::current());
    spawned<T> result(adopt_state<T>(job));
    try {
      io::submit(*scheduler_, *job, where);
    } catch (...) {
      job->refused();
      throw;
    }
    return result;
  }

  std::unique_ptr<io::scheduler> scheduler_;
};

[[nodiscard]] inline io::scheduler& scheduler_of(hybrid_scheduler& hs) noexcept {
  return *hs.scheduler_;
}

}  // namespace weft
