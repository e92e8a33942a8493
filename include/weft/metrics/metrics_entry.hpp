#pragma once

#include <cstdint>
#include <memory>

namespace weft {

namespace telemetry {
class registry;  // src/metrics/registry.hpp
}

// Something that was added to `metrics`; removes it at its end, and then no scrape reads it.
//
// Threads: one at a time. Blocks: removing waits for a scrape that is under way.
class [[nodiscard]] metrics_entry {
 public:
  metrics_entry() = default;  // of nothing
  metrics_entry(std::shared_ptr<telemetry::registry> in, std::uint64_t id) noexcept;
  metrics_entry(metrics_entry&& other) noexcept;
  metrics_entry& operator=(metrics_entry&& other) noexcept;
  ~metrics_entry();

  // At once; doing it again does nothing.
  void remove() noexcept;

 private:
  std::shared_ptr<telemetry::registry> in_;  // null: removed
  std::uint64_t id_ = 0;
};

}  // namespace weft
