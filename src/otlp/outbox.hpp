#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include <weft/otlp/exporter.hpp>
#include <weft/telemetry/metric_values.hpp>
#include <weft/telemetry/span.hpp>

namespace weft::otlp {

// All metrics of a source, at one moment.
struct reading {
  std::uint64_t source = 0;
  std::chrono::sys_time<std::chrono::nanoseconds> at;
  std::vector<telemetry::metric_values> values;
  std::uint64_t order = 0;  // of the oldest reading in whose place it stands

  [[nodiscard]] std::uint64_t points() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& v : values) sum += v.points.size();
    return sum;
  }
};

// What waits to be sent, and what became of everything: without thread, clock or lock.
//
//   1. At most spans_max spans wait. The oldest leave first, sent or not.
//   2. A source has at most one reading that waits: a newer one takes its place.
//   3. What was taken to be sent is settled, dropped or given back before more of its kind is
//   taken.
class outbox {
 public:
  static constexpr std::size_t readings_max = 2 * otlp_exporter::entries_max;

  explicit outbox(std::size_t spans_max) : spans_max_(spans_max) {}

  void add(std::vector<telemetry::span> spans);
  void add(reading r);

  [[nodiscard]] std::vector<telemetry::span> take_spans(std::size_t most);
  void settle_spans(std::size_t count, std::uint64_t rejected) noexcept;
  void drop_spans(std::size_t count) noexcept;
  void give_back(std::vector<telemetry::span> spans);

  [[nodiscard]] std::optional<reading> take_reading();
  void settle_reading(const reading& r, std::uint64_t rejected) noexcept;
  void drop_reading(const reading& r) noexcept;
  void give_back(reading r);

  [[nodiscard]] bool has_spans() const noexcept { return !spans_.empty(); }
  [[nodiscard]] bool has_readings() const noexcept { return !readings_.empty(); }
  // What was taken, and was lost on the way.
  void drop_taken() noexcept;
  // What is lost when nobody sends it any more.
  void drop_everything() noexcept;

  // A moment. What was there at it has left when is_past() says so.
  struct mark {
    std::uint64_t spans = 0;
    std::uint64_t readings = 0;
  };
  [[nodiscard]] mark now() const noexcept { return {spans_added_, readings_added_}; }
  [[nodiscard]] bool is_past(const mark& m) const noexcept;

  [[nodiscard]] otlp_counts spans() const noexcept;
  [[nodiscard]] otlp_counts points() const noexcept;

 private:
  const std::size_t spans_max_;
  std::deque<telemetry::span> spans_;
  std::size_t spans_out_ = 0;  // taken, see 3.
  std::uint64_t spans_added_ = 0;
  otlp_counts span_counts_;

  std::map<std::uint64_t, reading> readings_;  // by source
  std::uint64_t reading_out_ = 0;              // the order of the one that was taken; 0: none
  std::uint64_t points_out_ = 0;
  std::uint64_t readings_added_ = 0;
  otlp_counts point_counts_;
};

}  // namespace weft::otlp
