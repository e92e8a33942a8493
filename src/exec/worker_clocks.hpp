#pragma once

#include <ctime>

#include <chrono>
#include <map>
#include <mutex>

namespace weft::exec {

// The CPU clocks of the threads of a pool.
//
// Threads: any. Reading costs a system call for each thread: once per window, not per item.
class worker_clocks {
 public:
  // By the worker itself.
  void started(unsigned index) noexcept;
  void stopped(unsigned index) noexcept;

  // CPU time that the threads have used together since they were made.
  [[nodiscard]] std::chrono::nanoseconds total() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::map<unsigned, clockid_t> clocks_;  // guarded by mutex_
  std::chrono::nanoseconds gone_{};       // of threads that have stopped; guarded by mutex_
};

}  // namespace weft::exec
