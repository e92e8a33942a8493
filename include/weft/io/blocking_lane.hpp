#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <weft/core/job.hpp>
#include <weft/core/lane.hpp>
#include <weft/core/pool.hpp>

namespace weft::io {

struct blocking_lane_options {
  unsigned max_threads = 64;  // 1 to 4096
  // Jobs that may wait for a thread; try_post() refuses more.
  std::size_t max_waiting = 1024;
  // A thread that had nothing to do for so long ends; 0 to a day.
  std::chrono::milliseconds idle_exit = std::chrono::seconds(10);
  // Threads are called name/0, name/1, ... in debuggers; the kernel keeps 15 characters.
  std::string name = "weft-block";
  // Called on each thread with its number, below max_threads, first and last. A number is used
  // again when its thread has ended. Must not throw.
  std::function<void(unsigned)> on_thread_start = nullptr;
  std::function<void(unsigned)> on_thread_stop = nullptr;
};

struct blocking_lane_stats {
  unsigned threads = 0;
  unsigned idle = 0;
  std::size_t running = 0;           // jobs
  std::size_t waiting = 0;           // jobs, for a thread
  std::uint64_t started_total = 0;   // threads
  std::uint64_t refused = 0;         // jobs, by try_post()
  std::uint64_t run_by_callers = 0;  // jobs, by post() without a thread
};

// Threads for calls that sleep: as many as there are such calls at once, up to a limit.
//
// A job goes to the thread that became idle last, so that the others may end; a thread is created
// only if none is idle; a job waits only if there are max_threads.
//
// Where the system refuses to create a thread, jobs wait for those that exist, and each job that
// begins tries again. Where none exists, try_post() refuses, and post() runs the job, and those
// that come meanwhile, in its caller.
//
// Threads: every member, from any thread, except that the destructor must not race with other
// calls. They block signals, and have the scheduling class of whoever posted the job that made
// them. Blocks: shutdown() and the destructor until done; post() as said above. Errors:
// std::invalid_argument for options. Lifetime: the destructor drains. In a forked child the threads
// are missing: try_post() refuses, post() drops, shutdown() and the destructor do nothing.
class blocking_lane final : public lane {
 public:
  explicit blocking_lane(blocking_lane_options options = {});
  ~blocking_lane();
  blocking_lane(const blocking_lane&) = delete;
  blocking_lane& operator=(const blocking_lane&) = delete;

  // False, and the job is still the caller's: the lane is full, was shut down, or has no thread.
  [[nodiscard]] bool try_post(detail::queued_job& job) noexcept;

  // For a job that was accepted already, here or elsewhere, and goes on: never refused, also while
  // the lane drains. A lane that has ended runs it in the caller; one that cancels drops it.
  void post(detail::queued_job& job) noexcept override;
  bool observe(const std::shared_ptr<observer>& o) override;

  // Also in a caller of post() that runs a job.
  [[nodiscard]] bool is_here() const noexcept override;

  [[nodiscard]] blocking_lane_stats stats() const;

  // drain runs everything that was posted; cancel drops what waits, in the calling thread, also
  // when another call is draining. Returns when the threads are gone. Calling it again does
  // nothing. From a job of this lane: std::logic_error.
  void shutdown(shutdown_mode mode);

 private:
  class crew;
  crew* crew_;  // left alone in a forked child, where it cannot be destroyed
};

}  // namespace weft::io
