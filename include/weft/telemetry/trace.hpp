#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/core/lane.hpp>
#include <weft/core/pool.hpp>
#include <weft/telemetry/span.hpp>
#include <weft/telemetry/stall.hpp>

namespace weft {

namespace telemetry {
class trace_recorder;  // src/telemetry/trace_recorder.hpp
}

struct trace_options {
  // What each thread remembers; the oldest is forgotten first. A job takes two, 32 bytes each. At
  // least 2; is rounded up to a power of two.
  std::size_t events_per_thread = std::size_t{1} << 16U;
  // Threads beyond these are not recorded, until one of those that are ends.
  std::size_t threads_max = 256;
};

struct trace_stats {
  bool on = false;
  std::size_t threads = 0;        // that have recorded something
  std::uint64_t events = 0;       // recorded so far
  std::uint64_t overwritten = 0;  // of these, forgotten because newer ones came
  std::uint64_t refused = 0;      // threads that found no place, because of threads_max
};

// Keeps what was added in the trace. It ends before what it is about; what was recorded stays.
class trace_entry {
 public:
  trace_entry() noexcept = default;
  trace_entry(std::shared_ptr<telemetry::trace_recorder> recorder, std::uint64_t id) noexcept
      : recorder_(std::move(recorder)), id_(id) {}
  trace_entry(trace_entry&& other) noexcept = default;
  trace_entry& operator=(trace_entry other) noexcept {
    std::swap(recorder_, other.recorder_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~trace_entry() { remove(); }

  void remove() noexcept;

 private:
  std::shared_ptr<telemetry::trace_recorder> recorder_;
  std::uint64_t id_ = 0;
};

// Records what threads do while the program runs, and draws it: one track for each worker, a slice
// for each task, arrows from whoever spawned it and to who stole it, and how many were queued and
// running.
//
//   weft::trace trace;
//   auto entry = trace.add("render", pool);
//   trace.start();
//   ...
//   trace.stop();
//   trace.write("program.trace.json");            // for https://ui.perfetto.dev
//
// The last moments are kept, in bounded memory, so it may be on all the time and be written when
// something has gone wrong. Off, it costs a branch; on, about 20 ns for a job.
//
// Threads: every member, from any thread. Blocks: none waits for tasks.
// Errors: std::invalid_argument for options and empty names; std::logic_error from start() when
//   somebody else observes one of the pools; std::length_error for more than lanes_max;
//   std::system_error for a file that cannot be written, which leaves the one that was there.
// Lifetime: entries end before what they are about; the trace may end before or after. Not in a
//   forked child.
class trace {
 public:
  static constexpr std::size_t lanes_max = 4095;

  explicit trace(const trace_options& options = {});
  ~trace();  // stops
  trace(const trace&) = delete;
  trace& operator=(const trace&) = delete;

  [[nodiscard]] trace_entry add(std::string name, pool& what);
  // All lanes of a hybrid_scheduler.
  template <class Scheduler>
    requires requires(Scheduler& s) { s.lanes(), s.cpu_pool(); }
  [[nodiscard]] trace_entry add(std::string name, Scheduler& what) {
    std::vector<watched_lane> lanes;
    for (auto& l : what.lanes()) lanes.push_back({l.name, std::string(l.task_type), &l.lane});
    return add_lanes(std::move(name), std::move(lanes),
                     [&what] { return what.cpu_pool().dump() + what.dump(); });
  }

  // What was added, and what will be, is recorded until stop().
  void start();
  void stop() noexcept;

  [[nodiscard]] trace_stats stats() const;

  // Everything that is remembered, in the format that Perfetto and chrome://tracing read.
  [[nodiscard]] std::string json() const;
  // A file is replaced when the new one is whole; links are followed, and what is no file, such as
  // a pipe, is written to. Blocks: for a pipe that nobody reads. Errors: std::system_error;
  // std::invalid_argument for an empty path.
  void write(const std::filesystem::path& file) const;

  // The tasks that have gone on for that long, the longest first; only what began while the trace
  // was on. A stall_detector looks by itself.
  [[nodiscard]] std::vector<stall> stalls(std::chrono::nanoseconds at_least) const;
  // What the pools and schedulers under that name say of themselves; empty: all of them.
  [[nodiscard]] std::string dump(std::string_view name = {}) const;

  // What ended since the last call of this, of the work that belongs to a distributed trace
  // (context::trace()), for a program that collects spans: contexts, the last 10,000 of them, and
  // runs of tasks, as far as they are remembered.
  [[nodiscard]] std::vector<telemetry::span> take_spans();

 private:
  struct watched_lane {
    std::string name;
    std::string task_type;
    lane* what;
  };
  [[nodiscard]] trace_entry add_lanes(std::string name, std::vector<watched_lane> lanes,
                                      std::function<std::string()> dump);

  std::shared_ptr<telemetry::trace_recorder> recorder_;
};

}  // namespace weft
