#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <variant>

#include <weft/otlp/exporter.hpp>
#include <weft/otlp/json.hpp>

#include "otlp/http_client.hpp"
#include "otlp/outbox.hpp"
#include "otlp/patience.hpp"

namespace weft::otlp {

// The thread of an exporter, and what it shares with entries and callers.
//
// Two locks: `reading_` is held while a source is read, so that removing one waits for that and for
// nothing else; `mutex_` is never held while anything is read, sent or told.
//
// Threads: any.
class export_loop {
 public:
  // Checks the options and starts the thread.
  explicit export_loop(otlp_options options);
  ~export_loop();  // after end()
  export_loop(const export_loop&) = delete;
  export_loop& operator=(const export_loop&) = delete;

  using source = std::variant<trace*, metrics*>;
  [[nodiscard]] std::uint64_t add(source what);
  void remove(std::uint64_t id) noexcept;

  bool flush(std::chrono::milliseconds limit);
  [[nodiscard]] otlp_stats stats() const;

  // Sends what is left, within shutdown_timeout, and ends the thread.
  void end() noexcept;

  // In a forked child: the thread stayed in the parent, with whatever it had locked.
  [[nodiscard]] bool is_abandoned() const noexcept { return ::getpid() != process_; }

 private:
  using clock = std::chrono::steady_clock;

  // Of spans or of metrics.
  struct signal {
    const char* path;
    const char* rejected_name;                            // in the answers
    const char* what;                                     // in messages
    std::optional<clock::time_point> due = std::nullopt;  // nothing: nothing is to be sent
    unsigned failures = 0;                                // in a row
  };
  // What one request has come to.
  enum class result : std::uint8_t { nothing_to_send, settled, failed };

  void run() noexcept;
  void run_until_stopped(std::unique_lock<std::mutex>& lock);
  void send_the_rest(std::unique_lock<std::mutex>& lock);
  void read_everything();
  void read_if_due();
  void keep_unread(const std::exception& error) noexcept;
  void read(std::uint64_t id, source from);

  result send_spans(std::unique_lock<std::mutex>& lock);
  result send_reading(std::unique_lock<std::mutex>& lock);
  judgement send(const signal& as, std::string body);
  // Asked while a request is under way that is given up at `end`.
  patience how_long(clock::time_point end) noexcept;
  result conclude(signal& of, const judgement& j, std::uint64_t count,
                  std::unique_lock<std::mutex>& lock);
  void tell(const std::string& message, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] clock::time_point next_event() const noexcept;
  [[nodiscard]] std::string address_of(const signal& s) const;

  const pid_t process_ = ::getpid();
  const otlp_options options_;
  const resource about_;
  const endpoint to_;
  http_client client_;                               // used by the thread; wake() by end()
  std::minstd_rand random_{std::random_device{}()};  // used by the thread
  clock::time_point next_reading_;                   // used by the thread

  std::mutex reading_;
  // Guarded by reading_.
  std::map<std::uint64_t, source> sources_;
  std::uint64_t next_id_ = 1;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  outbox outbox_;
  signal spans_{.path = "/v1/traces", .rejected_name = "rejectedSpans", .what = "spans"};
  signal points_{.path = "/v1/metrics", .rejected_name = "rejectedDataPoints", .what = "points"};
  std::uint64_t requests_ = 0;
  std::uint64_t failed_requests_ = 0;
  std::string last_error_;
  bool is_ending_ = false;
  clock::time_point end_by_;  // when it is

  std::thread thread_;  // last: it uses the others
};

}  // namespace weft::otlp
