#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <weft/io/hybrid.hpp>

#include "io/blocked_monitor.hpp"
#include "io/io_thread.hpp"
#include "io/task_registry.hpp"
#include "io/watched_lane.hpp"

namespace weft::io {

// The three lanes, and every task in them.
class scheduler {
 public:
  explicit scheduler(hybrid_options options);
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  [[nodiscard]] placement place(task_kind kind, const spawn_options& options);
  void submit(detail::queued_job& job, placement where);
  void enter(tracked_task& t);
  shutdown_report shutdown(shutdown_limits limits);
  [[nodiscard]] bool is_abandoned() const noexcept;  // in a forked child
  void report_unhandled(std::exception_ptr error) noexcept;

  [[nodiscard]] pool& cpu() noexcept { return *cpu_; }
  [[nodiscard]] lane& cpu_lane() noexcept { return cpu_lane_; }
  [[nodiscard]] io_thread& io() noexcept;       // this one, or the next in turn
  [[nodiscard]] io_thread& next_io() noexcept;  // the next in turn
  [[nodiscard]] std::vector<named_lane> lanes();
  [[nodiscard]] io_engine engine() const noexcept { return engine_; }
  [[nodiscard]] lane& blocking() noexcept { return blocking_; }
  [[nodiscard]] bool try_post_blocking(detail::queued_job& job) noexcept {
    return blocking_.try_post(job);
  }
  [[noreturn]] void throw_blocking_full() const;
  [[nodiscard]] task_registry& tasks() noexcept { return tasks_; }
  [[nodiscard]] const std::shared_ptr<task_classifier>& classifier() const noexcept {
    return classifier_;
  }
  [[nodiscard]] hybrid_stats stats() const;
  [[nodiscard]] std::string dump() const;

 private:
  enum class door : std::uint8_t { open, from_inside, shut };

  void start_io_threads();
  void start_io_threads(io_engine engine);
  [[nodiscard]] lane_kind classify(const task_facts& facts) noexcept;
  void require_open() const;
  [[noreturn]] static void throw_stopped();
  [[nodiscard]] bool is_inside() const noexcept;
  void set_door(door d) noexcept;

  const hybrid_options options_;
  const std::uint32_t process_;  // the fork generation it was made in
  const std::shared_ptr<task_classifier> classifier_;
  task_registry tasks_;
  std::unique_ptr<blocked_monitor> monitor_;
  std::unique_ptr<pool> own_cpu_;
  pool* cpu_;
  watched_lane cpu_lane_;
  blocking_lane blocking_;
  std::vector<std::unique_ptr<io_thread>> io_;
  io_engine engine_ = io_engine::epoll;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  door door_ = door::open;
  std::size_t next_io_ = 0;
  bool classifier_failed_ = false;
};

}  // namespace weft::io
