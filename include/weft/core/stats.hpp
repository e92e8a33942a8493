#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

enum class worker_activity : std::uint8_t {
  asleep,     // no job, no seat
  searching,  // looks for a job
  running,    // runs a job
  waiting,    // inside a job, asleep until what it waits for has happened
};

// What one worker has done since the pool was made.
struct worker_stats {
  std::uint64_t spawned = 0;   // jobs its jobs have spawned or submitted
  std::uint64_t executed = 0;  // jobs run: everything but forks that nobody stole
  std::uint64_t stolen = 0;    // of these, taken from another worker
  std::uint64_t injected = 0;  // of these, taken from the queue of jobs from outside
  std::uint64_t dropped = 0;   // jobs cancelled before they started
  std::uint64_t parks = 0;     // times it went to sleep
  std::uint64_t wakes = 0;     // times it was woken
  std::size_t queued = 0;      // jobs in its deque now
  std::size_t nesting = 0;     // jobs begun while waiting inside another one, now
  worker_activity activity = worker_activity::asleep;
  bool lent = false;  // a thread from outside does it, while the worker's own sleeps
};

// A snapshot of a pool. Counters are exact once the pool is quiet; while it works they were true at
// slightly different moments.
struct pool_stats {
  std::uint64_t spawned = 0;
  std::uint64_t executed = 0;
  std::uint64_t stolen = 0;
  std::uint64_t dropped = 0;
  std::uint64_t parks = 0;
  std::uint64_t wakes = 0;
  std::size_t workers = 0;       // how many may run at once now
  std::size_t idle_workers = 0;  // of these, how many have nothing to do
  std::size_t queue_depth = 0;   // jobs waiting, in all queues
  std::vector<worker_stats> per_worker;
  std::chrono::system_clock::time_point since;  // when the pool was made: all counters were 0
};

}  // namespace weft
