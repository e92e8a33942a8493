#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/adapt/sensor/cpu.hpp>
#include <weft/adapt/sensor/gpu.hpp>
#include <weft/adapt/sensor/memory.hpp>
#include <weft/exec/executor.hpp>

#include "sizer.hpp"
#include "worker_clocks.hpp"

namespace weft::exec {

// The thread that watches an executor while it has work: reads sensors, asks the policy, and sets
// the size of the pool and how many tasks may run. Without work it sleeps.
//
// Threads: any.
class governor {
 public:
  governor(const executor_options& options, std::unique_ptr<sizer> policy, pool& on,
           detail::work_control& control, const worker_clocks& clocks);
  ~governor() { stop(); }
  governor(const governor&) = delete;
  governor& operator=(const governor&) = delete;

  void stop() noexcept;
  // Whether the calling thread is the governor's: on_scale may shut the executor down.
  [[nodiscard]] bool is_this_thread() const noexcept { return std::this_thread::get_id() == id_; }
  [[nodiscard]] bool is_short_of_memory() const;
  [[nodiscard]] std::vector<scaling_event> events() const;
  [[nodiscard]] std::vector<resize_count> resizes() const;

 private:
  using clock = std::chrono::steady_clock;
  struct mark {
    clock::time_point at;
    std::chrono::nanoseconds cpu;
    std::uint64_t items;
  };

  void watch(const std::stop_token& stopping);
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] mark mark_now() const;
  void look_at_machine(clock::time_point now);
  void decide_size(clock::time_point now);
  void decide_admission();
  // Tasks that were admitted one at a time may wait for ones that were not.
  void keep_admission_going(clock::time_point now);
  void count_resize(bool up, adapt::sizing_reason why);
  void record(unsigned from, unsigned to, std::string reason);

  static constexpr std::size_t most_events = 64;

  const executor_options options_;
  const std::unique_ptr<sizer> policy_;
  pool& pool_;
  detail::work_control& control_;
  const worker_clocks& clocks_;

  // Of the governor's thread.
  adapt::cpu_sensor cpu_;
  adapt::memory_sensor memory_;
  adapt::gpu_sensor gpu_;
  double usable_cpus_ = 1;
  std::optional<double> machine_cpu_;
  std::optional<double> memory_used_;
  std::optional<double> gpu_memory_used_;
  std::size_t admitted_ = 1;  // while short of memory
  std::uint64_t items_then_ = 0;
  clock::time_point progress_at_{};
  bool on_trial_ = false;  // the size in force is one that may turn out too small
  mark window_began_{};

  mutable std::mutex mutex_;
  std::deque<scaling_event> events_;   // guarded by mutex_
  std::vector<resize_count> resizes_;  // guarded by mutex_
  bool short_of_memory_ = false;       // guarded by mutex_

  std::jthread thread_;  // it uses the others
  const std::thread::id id_ = thread_.get_id();
};

}  // namespace weft::exec
