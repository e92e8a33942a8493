#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/core/context.hpp>

#include "telemetry/open_stack.hpp"
#include "telemetry/tick_clock.hpp"
#include "telemetry/trace_event.hpp"

namespace weft::telemetry {

class trace_names;

// What one thread has done: what has ended in a ring, what goes on in a stack. It writes, anybody
// may read meanwhile.
class thread_log {
 public:
  thread_log(std::size_t events, const tick_clock& clock, trace_names& names)
      : clock_(clock), names_(names), ring_(events) {}

  // -- by the thread ------------------------------------------------------------------------------
  void job_queued(std::uint16_t lane, const void* job) noexcept;
  void job_begins(trace_place here, const void* job) noexcept;
  void job_ends() noexcept;
  void task_begins(trace_place here, const context& of) noexcept;
  void task_ends() noexcept;
  void job_stolen(trace_place thief, unsigned victim, const void* job) noexcept;
  void guest_arrives(trace_place here) noexcept;
  void guest_leaves() noexcept;
  void searches() noexcept { has_just_ended_ = false; }
  void falls_asleep(trace_place here) noexcept;
  void wakes() noexcept;

  // -- by anybody ---------------------------------------------------------------------------------
  struct open_work {
    trace_place place;
    std::uint32_t name = trace_event::no_name;
    bool is_guest = false;
    std::uint64_t begin = 0;
    std::uint64_t job = 0;
  };
  // What goes on, outermost first; empty where it changes too quickly to be seen.
  [[nodiscard]] std::vector<open_work> open() const;
  [[nodiscard]] const trace_ring& ring() const noexcept { return ring_; }

 private:
  static constexpr std::size_t depth_max = 256;  // what is deeper is not recorded

  enum class level : std::uint8_t { job, task, guest };
  // The thread's own part of an entry.
  struct started {
    level what = level::job;
    bool has_tasks = false;  // they are recorded instead
    trace_place place;
    std::uint32_t name = trace_event::no_name;
    std::uint64_t begin = 0;
    std::uint64_t job = 0;
    trace_id trace = {};  // zero: none that is to be recorded
    span_id span = {};
  };
  void push(const started& s) noexcept;
  void pop(std::uint64_t end) noexcept;
  [[nodiscard]] started* top() noexcept;
  [[nodiscard]] const started* ending(level what) noexcept;
  [[nodiscard]] std::uint32_t number_of(std::string_view name) noexcept;
  void record(const trace_event& e) noexcept { ring_.push(e.pack()); }

  const tick_clock& clock_;
  trace_names& names_;

  std::array<started, depth_max> stack_;
  std::size_t unrecorded_ = 0;  // levels above depth_max
  std::uint64_t last_end_ = 0;
  bool has_just_ended_ = false;  // and nothing has come since that takes time
  std::uint64_t asleep_since_ = 0;
  trace_place asleep_at_;
  std::string last_name_;
  std::uint32_t last_number_ = trace_event::no_name;

  open_stack<depth_max> open_;
  trace_ring ring_;
};

}  // namespace weft::telemetry
