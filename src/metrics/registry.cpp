#include "metrics/registry.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include <weft/base/utf8.hpp>

#include "metrics/names.hpp"
#include "metrics/prometheus_families.hpp"

namespace weft::telemetry {

registry::registry(const metrics_options& options) : options_(options) { check_options(options_); }

metrics_entry registry::add(std::string name, std::shared_ptr<source> from) {
  check_entry_name(name);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, present] : entries_) {
    if (present.record.name == name) {
      throw std::invalid_argument("weft: metrics: the name \"" + base::printable(name) +
                                  "\" is taken; choose another, or remove the entry that has it");
    }
  }
  if (entries_.size() >= metrics::entries_max) {
    throw std::length_error("weft: metrics: there are " + std::to_string(entries_.size()) +
                            " entries already; remove those that nobody needs");
  }
  const std::uint64_t id = next_id_++;
  entries_.emplace(id, entry{.record = {.name = std::move(name),
                                        .since = std::chrono::system_clock::now(),
                                        .floors = {}},
                             .from = std::move(from)});
  return {shared_from_this(), id};
}

void registry::remove(std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  entries_.erase(id);
}

void registry::sample() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, present] : entries_) present.from->sample();
}

std::vector<metric_values> registry::read() const {
  snapshot values(options_);
  const std::lock_guard lock(mutex_);
  for (auto& [id, present] : entries_) {
    values.begin_entry(present.record);
    present.from->collect(values);
  }
  return values.take();
}

std::vector<prometheus::MetricFamily> registry::Collect() const {
  return prometheus_families(read(), options_.prefix);
}

}  // namespace weft::telemetry

namespace weft {

metrics_entry::metrics_entry(std::shared_ptr<telemetry::registry> in, std::uint64_t id) noexcept
    : in_(std::move(in)), id_(id) {}

metrics_entry::metrics_entry(metrics_entry&& other) noexcept = default;

metrics_entry& metrics_entry::operator=(metrics_entry&& other) noexcept {
  if (this == &other) return *this;
  remove();
  in_ = std::move(other.in_);
  id_ = other.id_;
  return *this;
}

metrics_entry::~metrics_entry() { remove(); }

void metrics_entry::remove() noexcept {
  if (in_ != nullptr) std::exchange(in_, nullptr)->remove(id_);
}

}  // namespace weft
