#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/core/span_listener.hpp>
#include <weft/telemetry/trace.hpp>

#include "telemetry/thread_log.hpp"
#include "telemetry/tick_clock.hpp"
#include "telemetry/trace_names.hpp"

namespace weft::telemetry {

// A context that has ended, kept for those who collect spans.
struct kept_span {
  std::string name;
  trace_id trace;
  span_id id;
  span_id parent;
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

// The logs of all threads, and the contexts that have ended.
//
// Threads: any.
class log_book final : public span_listener, public std::enable_shared_from_this<log_book> {
 public:
  explicit log_book(const trace_options& options);

  // Of the calling thread, made the first time. Null beyond threads_max, or without memory.
  [[nodiscard]] thread_log* mine() noexcept {
    if (last.book == id_) [[likely]]
      return last.log;
    return find_mine();
  }

  // The log of one thread, as it was at one moment.
  struct page {
    std::string thread;
    std::vector<trace_event> events;
    std::vector<thread_log::open_work> open;
  };
  [[nodiscard]] std::vector<page> read() const;
  // What came since the last call of this.
  [[nodiscard]] std::vector<page> read_new();
  // What goes on on each thread, outermost first.
  using open_on_thread = std::vector<thread_log::open_work>;
  [[nodiscard]] std::vector<open_on_thread> open() const;
  [[nodiscard]] std::vector<kept_span> take_ended();
  [[nodiscard]] trace_stats stats() const;

  [[nodiscard]] const tick_clock& clock() const noexcept { return clock_; }
  [[nodiscard]] std::vector<std::string> names() const { return names_.all(); }

 private:
  class place_of_a_thread;

  static constexpr std::size_t spans_max = 10'000;  // the oldest go first

  struct listed {
    std::unique_ptr<thread_log> log;
    std::string thread;
    bool is_free = false;  // its thread has ended
    std::uint64_t taken = 0;
  };

  // The log that this thread has used last. Plain, so that reading it costs next to nothing.
  struct last_used {
    std::uint64_t book = 0;
    thread_log* log = nullptr;
  };
  static constinit thread_local last_used last __attribute__((tls_model("initial-exec")));

  [[nodiscard]] thread_log* find_mine() noexcept;
  [[nodiscard]] thread_log* enter();
  void leave(const thread_log* log) noexcept;
  void span_ended(const ended_span& span) noexcept override;

  const std::uint64_t id_;  // no other book of the process has it
  const std::size_t events_per_thread_;
  const std::size_t threads_max_;
  const tick_clock clock_;
  trace_names names_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<listed> logs_;
  std::deque<kept_span> ended_;
  std::uint64_t refused_ = 0;
};

}  // namespace weft::telemetry
