#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

#include <weft/metrics/metrics.hpp>

#include "metrics/snapshot.hpp"

namespace weft::telemetry {

// Where the values of an entry come from. Called by one thread at a time.
class source {
 public:
  virtual ~source() = default;
  virtual void collect(snapshot& into) = 0;
  virtual void sample() {}
};

// The entries of a `metrics`, and the lock that keeps scrapes and removals apart.
//
// Threads: any. Errors: as `metrics`.
class registry final : public prometheus::Collectable,
                       public std::enable_shared_from_this<registry> {
 public:
  explicit registry(const metrics_options& options);

  [[nodiscard]] metrics_entry add(std::string name, std::shared_ptr<source> from);
  void remove(std::uint64_t id) noexcept;

  void sample();
  [[nodiscard]] std::vector<metric_values> read() const;
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct entry {
    entry_record record;
    std::shared_ptr<source> from;
  };

  const metrics_options options_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, entry> entries_;  // guarded by mutex_; in order of addition
  std::uint64_t next_id_ = 1;                       // guarded by mutex_
};

}  // namespace weft::telemetry
