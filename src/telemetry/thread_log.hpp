#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/base/padded.hpp>
#include <weft/core/context.hpp>

#include "telemetry/open_stack.hpp"
#include "telemetry/tick_clock.hpp"
#include "telemetry/trace_event.hpp"
#include "telemetry/trace_names.hpp"

namespace weft::telemetry {

// What all logs of a book have in common.
struct log_basics {
  tick_clock clock;
  trace_names names;
  // Written when a recording begins. relaxed: it publishes nothing.
  atomic<std::uint64_t> epoch{1};
};

// Whether a worker that ends a job and begins another tells when it has looked around in between.
enum class pauses_are : std::uint8_t { told, silent };

// What one thread has done: what has ended in a ring, what goes on in a stack. It writes, anybody
// may read meanwhile.
//
// Alone on its cache lines: the log of another thread may lie right behind.
class alignas(base::cache_line_size) thread_log {
 public:
  thread_log(std::size_t events, std::shared_ptr<log_basics> basics)
      : basics_(std::move(basics)), ring_(events) {}

  // -- by the thread ------------------------------------------------------------------------------
  // Those for every job are here, to be inlined: they are what a trace costs.
  void job_queued(std::uint16_t lane, const void* job) noexcept {
    constexpr auto what = trace_event::kind::queued;
    ring_.push({clock().now(), address(job), 0,
                trace_event::about(what, {.lane = lane}, trace_event::no_name)});
  }
  // A worker that goes from one job to the next does so at once, also where another job waits
  // below: one reading of the clock is enough. Only on the same place of the same lane, which
  // would have told of anything in between.
  void job_begins(trace_place here, const void* job, pauses_are pauses) noexcept {
    const std::uint64_t about =
        trace_event::about(trace_event::kind::ran, here, trace_event::no_name);
    const bool at_once =
        pauses == pauses_are::told && ended_in_ == epoch() && ended_about_ == about;
    const std::uint64_t now = at_once ? last_end_ : clock().now();
    ended_in_ = 0;
    push(level::job, about, now, address(job));
  }
  void job_ends() noexcept {
    const started* const mine = ending(level::job);
    if (mine == nullptr) return;
    const auto [begin, job, about] = open_.top();
    const std::uint64_t now = clock().now();
    open_.pop();
    // Where the task is nearly all of it, that stands for the job.
    if (!mine->has_tasks || now - last_end_ > nearby) ring_.push({begin, now, job, about});
    last_end_ = now;
    ended_about_ = about;
    ended_in_ = epoch();
  }
  void task_begins(trace_place here, const context& of) noexcept;
  void task_ends() noexcept;
  void job_withdrawn(std::uint16_t lane, const void* job) noexcept;
  void job_stolen(trace_place thief, unsigned victim, const void* job) noexcept;
  void guest_arrives(trace_place here) noexcept;
  void guest_leaves() noexcept;
  void searches() noexcept { ended_in_ = 0; }
  // The log was another thread's, which has ended.
  void changes_hands() noexcept {
    ended_in_ = 0;
    asleep_since_ = 0;
  }
  // What ended before may have ended long ago, in an earlier wait of the same job.
  void helps() noexcept { ended_in_ = 0; }
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
  // Ticks, a few milliseconds at most: a task that begins and ends so close to its job is all that
  // there is to show of it.
  static constexpr std::uint64_t nearby = 4'000'000;

  enum class level : std::uint8_t { job, task, guest };
  // What the thread alone knows of an entry of open_, which has its beginning, its job and the last
  // word of its event.
  struct started {
    level what = level::job;
    bool has_tasks = false;  // of a job: they are recorded instead
    // Of a task; zero: none that is to be recorded.
    trace_id trace = {};
    span_id span = {};
  };

  static std::uint64_t address(const void* job) noexcept {
    return reinterpret_cast<std::uint64_t>(job);
  }
  // Null when there is no room.
  started* push(level what, std::uint64_t about, std::uint64_t begin, std::uint64_t job) noexcept {
    if (open_.is_full()) [[unlikely]] {
      ++unrecorded_;
      return nullptr;
    }
    started& s = stack_[open_.size()];
    s.what = what;
    s.has_tasks = false;
    open_.push({begin, job, about});
    return &s;
  }
  [[nodiscard]] started* top() noexcept {
    return open_.size() > 0 && unrecorded_ == 0 ? &stack_[open_.size() - 1] : nullptr;
  }
  // Null when its beginning was not recorded.
  [[nodiscard]] const started* ending(level what) noexcept {
    if (unrecorded_ > 0) [[unlikely]] {
      --unrecorded_;
      return nullptr;
    }
    const started* const mine = top();
    return mine != nullptr && mine->what == what ? mine : nullptr;
  }
  [[nodiscard]] std::uint32_t number_of(std::string_view name) noexcept;
  void record(const trace_event& e) noexcept { ring_.push(e.pack()); }

  [[nodiscard]] const tick_clock& clock() const noexcept { return basics_->clock; }
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return basics_->epoch.load(std::memory_order_relaxed);
  }

  // What every job needs lies side by side.
  const std::shared_ptr<log_basics> basics_;
  trace_ring ring_;
  std::size_t unrecorded_ = 0;  // levels above depth_max
  std::uint64_t last_end_ = 0;
  std::uint64_t ended_in_ = 0;     // the epoch, if a job has just ended and nothing has come since
  std::uint64_t ended_about_ = 0;  // of that job, as in its event
  open_stack<depth_max> open_;
  std::array<started, depth_max> stack_;

  std::uint64_t asleep_since_ = 0;
  trace_place asleep_at_;
  std::string last_name_;
  std::uint32_t last_number_ = trace_event::no_name;
};

}  // namespace weft::telemetry
