#pragma once

#include <pthread.h>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/injector.hpp>
#include <weft/core/pool.hpp>

#include "sleep.hpp"
#include "worker.hpp"

namespace weft::detail {

// The workers of one pool and what they share.
class crew {
 public:
  crew(pool_options options, pool& owner);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // -- for callers from outside (pool.cpp, crew_access.hpp) ---------------------------------------
  void submit(queued_job& job, const char* name);
  void continue_with(queued_job& job) noexcept;
  void resize(unsigned workers);
  void shutdown(shutdown_mode mode);
  void require_open(const char* name) const;
  [[nodiscard]] bool is_abandoned() const noexcept;  // in a forked child
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
  [[nodiscard]] pool& owner() noexcept { return owner_; }
  void room_made() noexcept;
  // Work was made visible: somebody may have to be woken for it.
  void announce_work() noexcept;
  // Who would take work if there were some.
  [[nodiscard]] demand idle_demand() const noexcept;

 private:
  void start_workers(unsigned count);
  void start_worker(unsigned wanted);
  static void* thread_main(void* argument) noexcept;
  void wait_for_room(queued_job& job, const char* name);
  [[noreturn]] void throw_stopped(const char* name) const;

  pool_options options_;
  pool& owner_;
  const bool fenced_;
  const std::uint64_t
      process_;  // generation of the process that made this crew, see is_abandoned()

  class sleep sleep_;
  class injector injector_;
  std::vector<std::unique_ptr<worker>> workers_;  // reserved to max_workers: never moves
  atomic<unsigned> started_{0};                   // workers whose threads exist; publishes workers_
  std::vector<pthread_t> threads_;                // guarded by change_

  mutable std::mutex change_;       // resize and shutdown, one at a time
  bool ended_ = false;              // guarded by change_
  atomic<bool> closed_{false};      // written by shutdown(), read by callers for an early answer
  atomic<bool> cancelling_{false};  // written by shutdown(cancel)
  std::stop_source stop_;

  std::mutex room_mutex_;
  std::condition_variable room_;
  atomic<unsigned> waiting_for_room_{0};  // written under room_mutex_, read by takers
};

}  // namespace weft::detail
