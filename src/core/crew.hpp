#pragma once

#include <pthread.h>
#include <sched.h>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/base/cpu_map.hpp>
#include <weft/core/injector.hpp>
#include <weft/core/lane.hpp>
#include <weft/core/observer_slot.hpp>
#include <weft/core/pool.hpp>

#include "sleep.hpp"
#include "worker.hpp"

namespace weft::detail {

// The workers of one pool and what they share.
class crew final : public lane {
 public:
  crew(pool_options options, pool& owner);
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // The pool's last word: drains, and stops the threads. The memory stays until it is released.
  void end();
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }  // by a holder
  void release() noexcept;

  // -- for callers from outside (pool.cpp, crew_access.hpp) ---------------------------------------
  void submit(queued_job& job, const char* name);
  void continue_with(queued_job& job) noexcept;
  void post(queued_job& job) noexcept override { continue_with(job); }
  void post_last(queued_job& job) noexcept override;
  [[nodiscard]] bool is_here() const noexcept override;
  bool observe(const std::shared_ptr<weft::observer>& o) override { return observer_.set(o); }
  [[nodiscard]] service_order order() const noexcept override {
    return service_order::newest_first;
  }
  void resize(unsigned workers);
  [[nodiscard]] unsigned wanted_workers() const noexcept {
    return wanted_.load(std::memory_order_relaxed);  // a figure for people
  }
  // A job is about to sleep in a call: one more may run meanwhile. False when that cannot be had:
  // at max_workers, without another thread, or when the pool ends.
  [[nodiscard]] bool add_seat_for_blocked() noexcept;
  void remove_seat_for_blocked() noexcept;
  void shutdown(shutdown_mode mode);
  void require_open(const char* name) const;
  // seq_cst against shutdown(), which closes and then looks at the seats (sleep.md, "The end").
  [[nodiscard]] bool is_open() const noexcept { return !closed_.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool is_abandoned() const noexcept;  // in a forked child
  [[nodiscard]] std::uint32_t made_in_generation() const noexcept { return process_; }
  [[nodiscard]] pool_stats stats() const;
  [[nodiscard]] std::string dump() const;
  [[nodiscard]] unsigned max_workers() const noexcept { return options_.max_workers; }
  [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }
  void report_unhandled(std::exception_ptr error) const noexcept;
  worker* borrow_worker() noexcept;
  void return_worker(worker& w) noexcept;

  // -- for workers --------------------------------------------------------------------------------
  [[nodiscard]] class sleep& beds() noexcept { return sleep_; }
  [[nodiscard]] class injector& outside() noexcept { return injector_; }
  [[nodiscard]] const pool_options& options() const noexcept { return options_; }
  [[nodiscard]] weft::observer* observer() const noexcept { return observer_.get(); }
  [[nodiscard]] bool is_deterministic() const noexcept {
    return options_.deterministic_seed.has_value();
  }
  [[nodiscard]] bool is_cancelling() const noexcept {
    return cancelling_.load(std::memory_order_relaxed);  // late is as good as early
  }
  // The one list of places where a job can be: every scan before a sleep goes through it.
  [[nodiscard]] bool has_work() noexcept;
  [[nodiscard]] unsigned worker_count() const noexcept {
    return started_.load(std::memory_order_acquire);  // pairs with start_worker()
  }
  [[nodiscard]] worker& worker_at(unsigned index) noexcept { return *workers_[index]; }
  [[nodiscard]] const base::cpu_map& cpus() const noexcept { return cpus_; }
  [[nodiscard]] pool& owner() noexcept { return owner_; }
  void room_made() noexcept;
  // Work was made visible: somebody may have to be woken for it.
  void announce_work() noexcept;
  // Who would take work if there were some.
  [[nodiscard]] demand idle_demand() const noexcept;

 private:
  void start_workers(unsigned count);
  void start_worker(unsigned wanted);
  ~crew() = default;
  static void* thread_main(void* argument) noexcept;
  // Both queue the job, unless the pool ends meanwhile.
  [[nodiscard]] push_status wait_for_room(queued_job& job);
  [[nodiscard]] push_status make_room_here(queued_job& job);  // deterministic pool
  void run_all_here() noexcept;                               // deterministic pool
  [[noreturn]] void throw_stopped(const char* name) const;

  atomic<std::uint32_t> references_{1};  // the pool's, and those of jobs that may outlive it
  pool_options options_;
  pool& owner_;  // gone after end()
  const bool fenced_;
  cpu_set_t allowed_cpus_;       // of the thread that made the pool
  const std::uint32_t process_;  // the fork generation it was made in, see is_abandoned()

  const base::cpu_map& cpus_ = base::cpu_map::of_this_machine();

  observer_slot observer_;
  class sleep sleep_;
  class injector injector_;
  std::vector<std::unique_ptr<worker>> workers_;  // reserved to max_workers: never moves
  atomic<unsigned> started_{0};                   // workers whose threads exist; publishes workers_
  std::vector<pthread_t> threads_;                // guarded by change_

  // False when the pool has ended or is about to: shutdown() holds the lock until the last job is
  // done, and the caller may be that job.
  [[nodiscard]] bool lock_change(std::unique_lock<std::mutex>& lock) const noexcept;

  mutable std::mutex change_;       // resize and shutdown, one at a time
  atomic<unsigned> wanted_{0};      // seats without those for blocked jobs; guarded by change_
  unsigned blocked_ = 0;            // seats added for them; guarded by change_
  bool ended_ = false;              // guarded by change_
  atomic<bool> closed_{false};      // written by shutdown(), see is_open()
  atomic<bool> cancelling_{false};  // written by shutdown(cancel)
  std::stop_source stop_;

  std::mutex room_mutex_;
  std::condition_variable room_;
  atomic<unsigned> waiting_for_room_{0};  // written under room_mutex_, read by takers

  const std::chrono::system_clock::time_point made_at_ = std::chrono::system_clock::now();
};

}  // namespace weft::detail
