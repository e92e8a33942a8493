#pragma once

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/running.hpp>
#include <weft/io/cpu_class.hpp>

namespace weft {
struct blocked_task;
}

namespace weft::io {

class task_registry;

// Notices jobs of the CPU lane that sleep instead of computing while others are queued: gives their
// seat to another worker until they are done, and reports each name once.
//
// It looks twice in the time after which a job counts as blocked, and not at all while there is
// nothing to do.
class blocked_monitor {
 public:
  blocked_monitor(std::chrono::milliseconds after, const task_registry& tasks,
                  std::function<void(const blocked_task&)> report);
  ~blocked_monitor();
  blocked_monitor(const blocked_monitor&) = delete;
  blocked_monitor& operator=(const blocked_monitor&) = delete;

  // On the worker's own thread.
  void worker_starts(unsigned index);
  void watch(pool& p, cpu_class threads);
  void end() noexcept;

  // Before the work is queued, for afterwards it may end, and the scheduler with it. From any
  // thread, often: costs a load.
  void work_comes() noexcept {
    if (dozing_.load(std::memory_order_seq_cst)) wake();
  }

 private:
  struct worker_thread {
    pid_t id = 0;
    clockid_t cpu_clock{};
    const detail::running* running = nullptr;  // null: not started, or without a clock
  };
  // What is known of one worker.
  struct watched {
    worker_thread thread;
    std::uint64_t executed = 0;      // at the last look
    std::chrono::nanoseconds cpu{};  // likewise
    unsigned looks_asleep = 0;       // in the same job, one after another
    bool compensated = false;
  };

  void run() noexcept;
  void doze();
  void wake() noexcept;
  // Whether there may be something to see next time.
  bool look();
  void learn_of_new_workers();
  void look_at(unsigned index, watched& w, const worker_stats& now, bool others_wait);
  void found(unsigned index, watched& w);
  [[nodiscard]] std::string name_on(const watched& w) const;

  const std::chrono::milliseconds interval_;
  const task_registry& tasks_;
  const std::function<void(const blocked_task&)> report_;

  pool* pool_ = nullptr;
  // The monitor's thread only.
  std::vector<watched> workers_;
  std::set<std::string> reported_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<worker_thread> started_;
  bool ending_ = false;
  bool called_ = false;
  // Written by the thread before it looks for the last time, read by work_comes(). seq_cst: either
  // whoever brings work sees this, or has begun to bring it before the pause that comes next.
  atomic<bool> dozing_{false};
};

}  // namespace weft::io
