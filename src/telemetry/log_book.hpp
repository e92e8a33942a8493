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

  // Who writes into the book holds this, and not the book itself: a lane keeps its observers, and
  // must not keep the logs of traces that are gone.
  struct reference {
    std::uint64_t id = 0;
    std::weak_ptr<log_book> book;
  };
  [[nodiscard]] reference refer() noexcept { return {.id = id_, .book = weak_from_this()}; }
  // Of the calling thread, made the first time. Null when the book is gone, without memory, and
  // beyond threads_max, until a thread that has a log ends.
  [[nodiscard]] static thread_log* log_in(const reference& to) noexcept {
    if (last.book == to.id) [[likely]] {
      if (last.log != nullptr) [[likely]]
        return last.log;
      if (last.departures == departures.load(std::memory_order_relaxed)) return nullptr;
    }
    return find_log_in(to);
  }

  // What comes from now on has nothing to do with what came before.
  void begin_anew() noexcept { basics_->epoch.fetch_add(1, std::memory_order_relaxed); }

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

  [[nodiscard]] const tick_clock& clock() const noexcept { return basics_->clock; }
  [[nodiscard]] std::vector<std::string> names() const { return basics_->names.all(); }

 private:
  class place_of_a_thread;

  static constexpr std::size_t spans_max = 10'000;  // the oldest go first

  struct listed {
    std::shared_ptr<thread_log> log;  // its thread has it, too
    std::string thread;
    bool is_free = false;  // its thread has ended
    std::uint64_t taken = 0;
  };

  // The log that this thread has used last. Plain, so that reading it costs next to nothing.
  struct last_used {
    std::uint64_t book = 0;
    thread_log* log = nullptr;     // null: there was no room
    std::uint64_t departures = 0;  // by then
  };
  static constinit thread_local last_used last __attribute__((tls_model("initial-exec")));

  // How many threads have left a book, of all books. Written by those, read by threads that found
  // no room. relaxed: it says that looking again is worth while; what is free is read with the
  // lock.
  static constinit inline atomic<std::uint64_t> departures{0};

  static thread_log* find_log_in(const reference& to) noexcept;
  // Null when there is no room.
  [[nodiscard]] std::shared_ptr<thread_log> enter();
  void count_refused() noexcept;
  [[nodiscard]] std::vector<listed> all_logs() const;
  void leave(const thread_log* log) noexcept;
  void span_ended(const ended_span& span) noexcept override;

  const std::uint64_t id_;  // no other book of the process has it
  const std::size_t events_per_thread_;
  const std::size_t threads_max_;
  const std::shared_ptr<log_basics> basics_ = std::make_shared<log_basics>();

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<listed> logs_;
  std::uint64_t refused_ = 0;

  std::mutex ended_mutex_;
  std::deque<kept_span> ended_;  // guarded by ended_mutex_
};

}  // namespace weft::telemetry
