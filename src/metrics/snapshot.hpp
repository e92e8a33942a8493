#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/metric_schema.hpp>
#include <weft/telemetry/metric_values.hpp>

#include "metrics/histogram.hpp"

namespace weft::telemetry {

// What a snapshot needs to know of an entry, and remembers of it for the next one.
struct entry_record {
  std::string name;
  std::chrono::sys_time<std::chrono::nanoseconds> since;  // when it was added
  // The highest value of each counter so far, by its series.
  std::map<std::string, double, std::less<>> floors;
};

// The values of one scrape, as they come in from the entries.
class snapshot {
 public:
  explicit snapshot(const metrics_options& options) : options_(options) {}

  // What comes from now on is about this one.
  void begin_entry(entry_record& entry) noexcept {
    entry_ = &entry;
    since_ = entry.since;
  }
  // Numbers that come from now on, until the next entry, were 0 at this moment and count from it.
  // Histograms are made with their entry, and begin with it.
  void count_from(std::chrono::sys_time<std::chrono::nanoseconds> since) noexcept {
    since_ = since;
  }

  // `others` are the values of the attributes after the first one, which is the name.
  void set(const metric_schema& metric, double value,
           std::initializer_list<std::string_view> others = {});
  void set(const metric_schema& metric, std::int64_t value,
           std::initializer_list<std::string_view> others = {});
  template <std::integral Integer>
  void set(const metric_schema& metric, Integer value,
           std::initializer_list<std::string_view> others = {}) {
    set(metric, static_cast<std::int64_t>(value), others);
  }
  void set(const metric_schema& metric, const histogram& values);

  // In the order of the schema; those without a value are left out.
  [[nodiscard]] std::vector<metric_values> take();

 private:
  metric_point& point(const metric_schema& metric, std::initializer_list<std::string_view> others);

  const metrics_options& options_;
  entry_record* entry_ = nullptr;
  std::chrono::sys_time<std::chrono::nanoseconds> since_;
  std::map<std::string_view, std::vector<metric_point>> points_;
};

}  // namespace weft::telemetry
