#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <weft/core/lane.hpp>
#include <weft/telemetry/trace.hpp>

#include "telemetry/log_book.hpp"

namespace weft::telemetry {

// A lane as a reader of the trace sees it. Its number is its place in the list.
struct traced_lane {
  std::string scheduler;  // the name under which it was added
  std::string name;       // empty for a pool
  std::string task_type;
};

// What is watched, and whether it is.
//
// Threads: any.
class trace_recorder {
 public:
  explicit trace_recorder(const trace_options& options);

  struct new_lane {
    traced_lane about;
    lane* what;
  };
  // All or none. Returns the number of the entry.
  std::uint64_t add(std::string name, std::vector<new_lane> lanes,
                    std::function<std::string()> dump);
  void remove(std::uint64_t entry) noexcept;
  void start();
  void stop() noexcept;

  [[nodiscard]] trace_stats stats() const;
  [[nodiscard]] std::vector<traced_lane> lanes() const;
  // Of the entries with that name; empty: of all.
  [[nodiscard]] std::string dump(std::string_view name) const;
  [[nodiscard]] log_book& book() const noexcept { return *book_; }

 private:
  struct watched {
    std::uint64_t entry;
    lane* what;
    std::shared_ptr<observer> by;
  };

  struct described {
    std::uint64_t entry;
    std::string name;
    std::function<std::string()> dump;
  };

  void watch(const watched& w);

  const std::shared_ptr<log_book> book_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<traced_lane> lanes_;  // those that were removed stay, for what was recorded does
  std::vector<watched> watched_;
  std::vector<described> described_;
  std::uint64_t next_entry_ = 1;
  bool is_on_ = false;
};

}  // namespace weft::telemetry
