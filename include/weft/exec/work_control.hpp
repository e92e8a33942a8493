#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/core/errors.hpp>
#include <weft/core/job_types.hpp>
#include <weft/core/latch.hpp>
#include <weft/core/limiter.hpp>
#include <weft/core/pool.hpp>

namespace weft::detail {

// What the tasks and maps of one executor share: whether work is taken, how much may run, what has
// been done, and the first failure.
//
// Threads: any. Lifetime: outlives every task and map.
class work_control {
 public:
  struct options {
    bool runs_in_caller = false;  // whoever submits or iterates does the work
    bool fail_fast = true;
    std::size_t most_at_once = 1;
  };
  work_control(pool& p, options with);
  ~work_control();

  [[nodiscard]] pool& home() const noexcept { return pool_; }
  [[nodiscard]] bool runs_in_caller() const noexcept { return with_.runs_in_caller; }

  // Whether this thread is inside an item of any executor, or of this one.
  [[nodiscard]] static bool is_inside_item() noexcept;
  [[nodiscard]] bool is_inside_own_item() const noexcept;
  // Whether what is queued is not to run any more.
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_.stop_requested(); }
  [[nodiscard]] std::stop_token cancel_token() const noexcept { return cancelled_.get_token(); }

  // What to throw at those who wait for what was cancelled.
  [[nodiscard]] std::exception_ptr why_cancelled() const;

  // A task that threw; a map's failure is its consumer's.
  void record_failure(const std::exception_ptr& error) noexcept;
  // All started items of a map were done but the one its consumer waits for.
  void count_stall() noexcept;

  // No new work from now on, and no more items of the maps that are under way, except from inside
  // the items that still run.
  void close() noexcept;
  // Throws executor_stopped once closed; `name` is the call to blame.
  void require_open(const char* name) const;
  [[noreturn]] void throw_stopped(const char* name) const;
  // Nothing that is queued runs any more.
  void cancel() noexcept { cancelled_.request_stop(); }
  // How many tasks and chunks of items may run; those that run go on.
  void admit_at_most(std::size_t count) noexcept { admitted_.set_limit(count); }
  [[nodiscard]] std::size_t waiting_for_admission() const noexcept { return admitted_.waiting(); }

  struct tally {
    std::uint64_t items = 0;  // run to their end
    std::uint64_t stalls = 0;
    std::size_t tasks = 0;  // submitted and not ended
    std::size_t maps = 0;   // begun and not ended
  };
  [[nodiscard]] tally count() const;
  // Empty when there was none.
  [[nodiscard]] std::string first_failure() const;

  // Until no submitted task is queued or runs; a worker of the pool helps meanwhile.
  void wait_for_tasks() noexcept;

  // For the one thread that watches: until there is work, or a time has passed; both end with true
  // when `stop` was requested.
  bool wait_for_work(const std::stop_token& stop);
  bool wait_for(std::chrono::nanoseconds time, const std::stop_token& stop);

 private:
  friend class work_share;
  friend class admission;

  // `name` is the call to blame when the executor takes nothing.
  void begin_work(std::size_t tally::* kind, const char* name);
  void end_work(std::size_t tally::* kind) noexcept;
  void count_items(std::size_t items) noexcept;

  pool& pool_;
  const options with_;
  limiter admitted_;
  std::stop_source cancelled_;
  std::stop_source closed_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::exception_ptr failure_;
  std::string failure_text_;
  tally tally_;
  std::vector<latch*> waiting_for_tasks_;
  std::condition_variable_any changed_;
};

// A task or a map that the executor has taken.
class work_share {
 public:
  // Throw executor_stopped, executor_failed or used_after_fork.
  static work_share of_task(work_control& control) {
    return {control, &work_control::tally::tasks, "executor::submit"};
  }
  static work_share of_map(work_control& control) {
    return {control, &work_control::tally::maps, "executor::map"};
  }
  work_share(work_share&& other) noexcept
      : control_(std::exchange(other.control_, nullptr)), kind_(other.kind_) {}
  work_share& operator=(work_share&&) = delete;
  ~work_share() {
    if (control_ != nullptr) control_->end_work(kind_);
  }
  [[nodiscard]] work_control& control() const noexcept { return *control_; }
  // In a forked child, where the lock of the control may be held for ever.
  void abandon() noexcept { control_ = nullptr; }

 private:
  work_share(work_control& control, std::size_t work_control::tally::* kind, const char* name)
      : control_(&control), kind_(kind) {
    control.begin_work(kind, name);
  }

  work_control* control_;
  std::size_t work_control::tally::* kind_;
};

// The right to run items. Waits while the machine is short of memory, unless the work was submitted
// from inside another item, or runs on top of one: that one may hold the only permit and wait for
// this.
class admission {
 public:
  admission(work_control& control, bool from_inside);
  ~admission();
  admission(const admission&) = delete;
  admission& operator=(const admission&) = delete;

  void count(std::size_t items) noexcept { items_ = items; }

 private:
  friend class work_control;
  // The items this thread is at, innermost first.
  static const admission*& innermost() noexcept;

  work_control& control_;
  const limiter::permit permit_;
  const admission* const outer_;
  std::size_t items_ = 0;
};

// Whether it, or what it waits for, ended because it was told to: that is no failure.
[[nodiscard]] bool is_told_to_stop(const std::exception_ptr& error) noexcept;

// A submitted function and its arguments, with what surrounds a call.
template <class F, class... Args>
class guarded_task {
 public:
  template <class G, class... As>
  explicit guarded_task(work_share share, G&& f, As&&... args)
      : share_(std::move(share)),
        call_(std::forward<G>(f), std::forward<As>(args)...),
        from_inside_(work_control::is_inside_item()) {}

  // With a token, where the function takes one: it is told by its future and by the executor.
  decltype(auto) operator()(const std::stop_token& future)
    requires takes_stop_token<F, Args...>
  {
    std::stop_source either;
    const auto stop = [&] { either.request_stop(); };
    const std::stop_callback by_future(future, stop);
    const std::stop_callback by_executor(share_.control().cancel_token(), stop);
    return call(either.get_token());
  }
  decltype(auto) operator()()
    requires(!takes_stop_token<F, Args...>)
  {
    return call();
  }

 private:
  template <class... Token>
  decltype(auto) call(const Token&... token) {
    work_control& control = share_.control();
    if (control.is_cancelled()) throw cancelled();
    admission admitted(control, from_inside_);
    if (control.is_cancelled()) throw cancelled();
    admitted.count(1);
    try {
      return std::apply(
          [&](F& f, Args&... args) -> decltype(auto) {
            return std::invoke(std::move(f), token..., std::move(args)...);
          },
          call_);
    } catch (...) {
      if (!is_told_to_stop(std::current_exception())) {
        control.record_failure(std::current_exception());
      }
      throw;
    }
  }

  work_share share_;  // first: given back when the function and its arguments are gone
  std::tuple<F, Args...> call_;
  bool from_inside_;
};

}  // namespace weft::detail
