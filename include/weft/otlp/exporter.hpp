#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <weft/otlp/options.hpp>

namespace weft {

class metrics;
class trace;

namespace otlp {
class export_loop;  // src/otlp/export_loop.hpp
}

// Of spans, or of points of metrics.
struct otlp_counts {
  std::uint64_t sent = 0;      // the collector has them
  std::uint64_t rejected = 0;  // it took a request, but not these
  std::uint64_t dropped = 0;   // given up: it refused the request, or there was no room for more
  std::size_t waiting = 0;     // to be sent, now
};

struct otlp_stats {
  otlp_counts spans;
  otlp_counts points;
  std::uint64_t requests = 0;
  std::uint64_t failed_requests = 0;  // of these: without an answer, or refused
  std::string last_error;             // empty: nothing went wrong so far
};

// Something that is exported; takes it out at its end, and then nobody reads it. What there is at
// that moment is read a last time and still sent.
//
// Threads: one at a time. Blocks: removing waits for a reading that is under way.
class [[nodiscard]] otlp_entry {
 public:
  otlp_entry() noexcept = default;  // of nothing
  otlp_entry(std::shared_ptr<otlp::export_loop> in, std::uint64_t id) noexcept
      : in_(std::move(in)), id_(id) {}
  otlp_entry(otlp_entry&& other) noexcept = default;
  otlp_entry& operator=(otlp_entry other) noexcept {
    std::swap(in_, other.in_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~otlp_entry() { remove(); }

  // At once; doing it again does nothing.
  void remove() noexcept;

 private:
  std::shared_ptr<otlp::export_loop> in_;  // null: removed
  std::uint64_t id_ = 0;
};

// Sends spans and metrics to a collector of OpenTelemetry, as JSON over HTTP (OTLP 1.x).
//
//   weft::otlp_exporter exporter({.endpoint = "http://collector:4318", .service_name = "shop"});
//   auto spans = exporter.add(trace);
//   auto numbers = exporter.add(metrics);
//
// One thread of its own reads what was added every `interval` and sends it; no worker waits for it
// or for the collector. When the collector is not there or says that it has too much to do, spans
// wait, up to spans_max, and it is asked again after a pause; of metrics the newest reading waits.
// What the collector refuses for good is dropped. stats() and on_error tell.
//
// Threads: every member, from any thread. Blocks: flush(), until its limit; add(), for a reading
//   that is under way; the destructor, for shutdown_timeout.
// Errors: std::invalid_argument for options that cannot work, and for what is added twice;
//   std::length_error for more than entries_max; std::system_error when there is no thread. What
//   goes wrong later is counted and told.
// Lifetime: an entry ends before what it is about; entries may outlive the exporter. A trace is
//   added to one exporter, since every span is given out once. In a forked child only the
//   destructors may be called, of this and of its entries, and do nothing.
class otlp_exporter {
 public:
  static constexpr std::size_t entries_max = 64;

  explicit otlp_exporter(otlp_options options = {});
  ~otlp_exporter();  // reads everything a last time and sends what is left, once
  otlp_exporter(const otlp_exporter&) = delete;
  otlp_exporter& operator=(const otlp_exporter&) = delete;

  [[nodiscard]] otlp_entry add(trace& what);
  [[nodiscard]] otlp_entry add(metrics& what);

  // Reads everything now, sends it without waiting for a pause that is under way, and waits until
  // it was sent or given up. True when the collector took all that was waiting. In on_error, it
  // returns false at once.
  bool flush(std::chrono::milliseconds limit = std::chrono::seconds(10));

  [[nodiscard]] otlp_stats stats() const;

 private:
  std::shared_ptr<otlp::export_loop> loop_;
};

}  // namespace weft
