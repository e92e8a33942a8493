#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/adapt/policy/sizing.hpp>
#include <weft/core/future.hpp>
#include <weft/core/pool.hpp>
#include <weft/exec/errors.hpp>
#include <weft/exec/map.hpp>
#include <weft/exec/map_options.hpp>
#include <weft/exec/work_control.hpp>

namespace weft {

// What an executor does when a submitted task throws.
enum class on_error : std::uint8_t {
  fail_fast,   // what is queued is cancelled, and nothing new is taken
  keep_going,  // nothing: the future has the exception
};

// How an executor finds its size.
enum class sizing_policy : std::uint8_t {
  throughput,  // as many workers as get more done; starts at the CPUs it may use
  impact,      // one more while the CPU use it is expected to add stays below 80 % of the threshold
  fixed,       // max_workers
};

// A change of an executor's size, or of what it lets run.
struct scaling_event {
  std::chrono::steady_clock::time_point when;
  unsigned from = 0;
  unsigned to = 0;
  std::string reason;  // a sentence with the figures
};

struct executor_options {
  // 0: 32, or the number of CPUs this process may use if that is more. 1: no threads; everything
  // runs in the thread that submits or iterates, and tasks that submit tasks nest like calls.
  unsigned max_workers = 0;
  unsigned min_workers = 1;
  sizing_policy sizing = sizing_policy::throughput;
  weft::on_error on_error = weft::on_error::fail_fast;
  // Percent. With more of the machine's CPU in use, it does not grow beyond the CPUs it may use.
  double cpu_threshold = 85.0;
  // Percent. With more memory in use, of the machine, of the cgroup or of the GPU, tasks begin one
  // at a time, and one more whenever none has ended for ten intervals: they may wait for each
  // other.
  double memory_threshold = 90.0;
  double gpu_memory_threshold = 85.0;
  // Which GPU counts. Nothing: the fullest that can be seen.
  std::optional<unsigned> gpu_device = std::nullopt;
  // How often memory and the machine's CPU use are looked at, and how often the size is decided,
  // while there is work; 100 us at least.
  std::chrono::nanoseconds monitor_interval = std::chrono::seconds(2);
  std::chrono::nanoseconds scale_check_interval = std::chrono::seconds(1);
  // Is told every change, on a thread of the executor. Must not throw.
  std::function<void(const scaling_event&)> on_scale = nullptr;
  std::string name = "executor";
  // Where /proc and /sys are: tests put a machine of their own there.
  std::string system_root = "/";
};

// How often the size of an executor went one way for one reason.
struct resize_count {
  bool up = false;
  adapt::sizing_reason reason = adapt::sizing_reason::started;
  std::uint64_t count = 0;
};

// A snapshot of an executor. Counters only grow.
struct executor_stats {
  unsigned workers = 0;  // now
  unsigned min_workers = 0;
  unsigned max_workers = 0;
  std::uint64_t items = 0;       // submitted tasks and items of maps, run to their end
  std::uint64_t stalls = 0;      // times workers ran dry because a slow item held up those after it
  std::size_t tasks = 0;         // submitted and not ended
  std::size_t maps = 0;          // begun and not ended
  bool short_of_memory = false;  // tasks begin one at a time
  std::vector<resize_count> resizes = {};
  // Of its own pool. Nothing for one on a pool of somebody else, and for one without threads.
  std::optional<pool_stats> pool = std::nullopt;
  std::chrono::system_clock::time_point since = {};  // when it was made: all counters were 0
};

struct shutdown_options {
  bool wait = true;             // until what was submitted is done
  bool cancel_futures = false;  // what has not begun never does, and its future throws cancelled;
                                // what runs is told by its stop_token, if it takes one
};

// Runs functions on a pool whose size follows what the machine can do, and loops in parallel that
// behave like the loop.
//
//   weft::executor ex;
//   for (auto&& r : ex.map(process, dataset)) use(r);   // in order; throws what the loop would
//
// Threads: every member, from any thread. Blocks: shutdown() with wait, the destructor, and the
// ranges that map returns. Errors: std::invalid_argument for options; executor_stopped after
// shutdown(); executor_failed after a failure; used_after_fork in a forked child. Lifetime:
// outlives the ranges that map returned; futures may outlive it. The destructor is shutdown().
class executor {
 public:
  explicit executor(executor_options options = {});
  // On a pool that exists and lives longer, with the size that it has. What concerns size and
  // memory does not matter: nobody watches.
  explicit executor(pool& on, executor_options options = {});
  ~executor();
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  // Runs f(args...) some time later. With on_error::fail_fast, the first one that throws cancels
  // those that have not begun, and no more are taken; an f that ends with cancelled has not failed.
  template <class F, class... Args>
    requires submittable<F, Args...>
  auto submit(F&& f, Args&&... args) -> future<submit_result_t<F, Args...>>;

  // The results of f for each item, in order, as if
  //
  //   for (auto&& item : range) use(f(item));
  //
  // computed them: up to the first one whose item or whose call throws, then that exception. Items
  // are read ahead and run in parallel, at most look_ahead of them; breaking off asks the running
  // ones to stop and waits for them. An f that takes a std::stop_token first is told.
  // A failure ends this map, not the executor.
  template <class F, class R>
    requires mappable<F, R>
  auto map(F&& f, R&& range, const map_options& options = {}) {
    return make_map<detail::delivery::in_order>(options, std::forward<F>(f),
                                                std::forward<R>(range));
  }
  // f(a, b) for the items side by side; the shortest range ends it.
  template <class F, class R1, class R2>
    requires mappable<F, R1, R2>
  auto map(F&& f, R1&& first, R2&& second, const map_options& options = {}) {
    return make_map<detail::delivery::in_order>(options, std::forward<F>(f),
                                                std::forward<R1>(first), std::forward<R2>(second));
  }
  template <class F, class... R>
    requires mappable<F, R...>
  auto map(const map_options& options, F&& f, R&&... ranges) {
    return make_map<detail::delivery::in_order>(options, std::forward<F>(f),
                                                std::forward<R>(ranges)...);
  }

  // The results as they come. If some fail, the other results that were begun come first, then the
  // exception of the lowest index.
  template <class F, class R>
    requires mappable<F, R>
  auto map_unordered(F&& f, R&& range, const map_options& options = {}) {
    return make_map<detail::delivery::as_completed>(options, std::forward<F>(f),
                                                    std::forward<R>(range));
  }

  // Takes no more work, except from inside the tasks that still run. May be called again, also to
  // cancel what an earlier call left queued. From one of its own tasks it does not wait. Without
  // wait, what is queued still runs, and the destructor waits for it.
  void shutdown(shutdown_options options = {});

  [[nodiscard]] unsigned min_workers() const noexcept;
  [[nodiscard]] unsigned max_workers() const noexcept;
  [[nodiscard]] unsigned current_workers() const noexcept;

  [[nodiscard]] executor_stats stats() const;
  // The last changes, oldest first.
  [[nodiscard]] std::vector<scaling_event> events() const;
  // What size it has and why, for people.
  [[nodiscard]] std::string explain() const;

 private:
  template <detail::delivery Order, class F, class... R>
  auto make_map(const map_options& options, F&& f, R&&... ranges) {
    detail::require_callable(f, "executor::map");
    return map_range<Order, std::decay_t<F>, std::views::all_t<R>...>(
        *control_, options, std::forward<F>(f), std::views::all(std::forward<R>(ranges))...);
  }

  // In a forked child.
  [[nodiscard]] bool is_abandoned() const noexcept;
  // On the thread that decides the size, where on_scale is called.
  [[nodiscard]] bool is_governor() const noexcept;

  struct machinery;
  std::unique_ptr<machinery> machinery_;
  detail::work_control* control_;
};

template <class F, class... Args>
  requires submittable<F, Args...>
auto executor::submit(F&& f, Args&&... args) -> future<submit_result_t<F, Args...>> {
  using task = detail::guarded_task<std::decay_t<F>, std::decay_t<Args>...>;
  using result = submit_result_t<F, Args...>;
  detail::require_callable(f, "executor::submit");
  task guarded(detail::work_share::of_task(*control_), std::forward<F>(f),
               std::forward<Args>(args)...);
  if (!control_->runs_in_caller()) return control_->home().submit(std::move(guarded));
  auto* job = new detail::submitted_job<result, task>(detail::crew_of(control_->home()),
                                                      std::move(guarded));
  future<result> done = adopt_state<result>(job);
  job->call(*job, detail::job_fate::run);
  return done;
}

}  // namespace weft
