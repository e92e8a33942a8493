#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/core/lane.hpp>

#include "metrics/histogram.hpp"

namespace weft::telemetry {

// Measures how long a job waits for a worker, with jobs that do nothing else.
//
// At most one is on its way. Samples that are due meanwhile are kept, and count when it arrives
// with the time that a job sent then would have waited: a lane that is stuck for a minute would
// otherwise show as one slow job among thousands of quick ones.
//
// Threads: any. Lifetime: owned by shared_ptr, for a probe may outlive who sent it.
class latency_probe : public std::enable_shared_from_this<latency_probe> {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t due_max = 1024;

  latency_probe();

  // Does not wait, whatever the lane does. Nothing is measured of a lane that has ended.
  void send(lane& to);

  [[nodiscard]] histogram latencies() const;

 private:
  struct job;
  void arrived() noexcept;
  void lost() noexcept;

  mutable std::mutex mutex_;
  // All guarded by mutex_.
  histogram latencies_;
  std::vector<clock::time_point> due_;  // the first one is when the job was sent
  std::thread::id sender_;              // while it posts: a lane that has ended calls the job there
};

}  // namespace weft::telemetry
