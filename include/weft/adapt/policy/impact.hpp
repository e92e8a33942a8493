#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include <weft/adapt/policy/sizing.hpp>
#include <weft/adapt/time_point.hpp>

namespace weft::adapt {

struct impact_config {
  unsigned min = 1;                                             // 1 to max
  unsigned max = 64;                                            // 1 to 1024
  double cpu_threshold = 85;                                    // 0 to 100 %
  double gpu_memory_threshold = 85;                             // 0 to 100 %
  std::chrono::nanoseconds settle = std::chrono::seconds(2);    // from a worker to its impact
  std::chrono::nanoseconds cooldown = std::chrono::seconds(5);  // from a worker to the next
};

// Errors: std::invalid_argument that names the field and what it may be.
void validate(const impact_config& config);

// How much of the machine is in use, by everybody.
struct resource_use {
  std::optional<double> cpu = std::nullopt;         // 0 to 100 %
  std::optional<double> gpu_memory = std::nullopt;  // 0 to 100 %; nothing without a GPU
  std::size_t waiting = 0;                          // items queued
};

struct impact_state {
  static constexpr std::size_t remembered = 5;

  // What one worker added to the use of the machine, in percentage points. Nothing where a reading
  // was missing.
  struct cost {
    std::optional<double> cpu = std::nullopt;
    std::optional<double> gpu_memory = std::nullopt;
  };
  // Workers that were added and not measured yet.
  struct trial {
    resource_use baseline;
    time_point since;
    unsigned added = 1;
  };

  unsigned workers = 1;
  bool begun = false;
  std::optional<trial> pending = std::nullopt;
  std::array<cost, remembered> costs{};
  std::size_t measured = 0;  // trials so far; costs is a ring
  std::optional<time_point> added_at = std::nullopt;
};

struct impact_step {
  impact_state state;
  adapt::sizing sizing;
};

// One poll. Pure: no clock, lock, thread, log or allocation. `config` is valid.
[[nodiscard]] impact_step step(const impact_state& before, const impact_config& config,
                               const resource_use& use, time_point now) noexcept;

// Adds a worker while the machine has room for what the workers so far turned out to cost.
//
// The use of the machine is taken before a worker is added and two seconds after; the mean of the
// last five differences is what the next one is expected to add. A worker that had nothing to do in
// between is not measured. It is added when the sum stays
// below 80 % of the threshold, five seconds after the last one at the earliest. It never scales
// down. CPU-bound work on few cores stays slow under this rule: with two cores the first worker
// costs 50 %, and the second never starts. `throughput` is the better choice there.
//
// Threads: one at a time. Errors: the constructor throws std::invalid_argument.
class impact {
 public:
  explicit impact(const impact_config& config);

  // How many to begin with. The first poll comes before they start: it is their baseline.
  [[nodiscard]] unsigned start() const noexcept { return config_.min; }
  sizing poll(const resource_use& use, time_point now) noexcept;

 private:
  impact_config config_;
  impact_state state_;
};

}  // namespace weft::adapt
