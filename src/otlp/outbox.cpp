#include "otlp/outbox.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::otlp {

void outbox::add(std::vector<telemetry::span> spans) {
  spans_added_ += spans.size();
  // The oldest of what is there and of what comes, until the rest fits.
  const std::size_t all = spans_.size() + spans.size();
  std::size_t excess = all > spans_max_ ? all - spans_max_ : 0;
  span_counts_.dropped += excess;
  const std::size_t old = std::min(excess, spans_.size());
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(old));
  excess -= old;
  spans_.insert(spans_.end(),
                std::make_move_iterator(spans.begin() + static_cast<std::ptrdiff_t>(excess)),
                std::make_move_iterator(spans.end()));
}

std::vector<telemetry::span> outbox::take_spans(std::size_t most) {
  const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(std::min(most, spans_.size()));
  std::vector<telemetry::span> taken(std::make_move_iterator(spans_.begin()),
                                     std::make_move_iterator(end));
  spans_.erase(spans_.begin(), end);
  spans_out_ = taken.size();
  return taken;
}

void outbox::settle_spans(std::size_t count, std::uint64_t rejected) noexcept {
  const std::uint64_t not_taken = std::min<std::uint64_t>(rejected, count);
  span_counts_.rejected += not_taken;
  span_counts_.sent += count - not_taken;
  spans_out_ = 0;
}

void outbox::drop_spans(std::size_t count) noexcept {
  span_counts_.dropped += count;
  spans_out_ = 0;
}

void outbox::give_back(std::vector<telemetry::span> spans) {
  spans_out_ = 0;
  // They are the oldest: where newer ones have taken the room, the first of them go.
  const std::size_t room = spans_max_ - std::min(spans_max_, spans_.size());
  const std::size_t excess = spans.size() > room ? spans.size() - room : 0;
  span_counts_.dropped += excess;
  spans_.insert(spans_.begin(),
                std::make_move_iterator(spans.begin() + static_cast<std::ptrdiff_t>(excess)),
                std::make_move_iterator(spans.end()));
}

void outbox::add(reading r) {
  r.order = ++readings_added_;
  if (const auto old = readings_.find(r.source); old != readings_.end()) {
    r.order = old->second.order;
    old->second = std::move(r);
    return;
  }
  if (readings_.size() >= readings_max) {
    const auto oldest = std::ranges::min_element(
        readings_, {}, [](const auto& entry) { return entry.second.order; });
    point_counts_.dropped += oldest->second.points();
    readings_.erase(oldest);
  }
  readings_.emplace(r.source, std::move(r));
}

std::optional<reading> outbox::take_reading() {
  if (readings_.empty()) return std::nullopt;
  // In turn: one that is read often must not keep the others waiting.
  const auto oldest =
      std::ranges::min_element(readings_, {}, [](const auto& entry) { return entry.second.order; });
  auto taken = std::move(oldest->second);
  readings_.erase(oldest);
  reading_out_ = taken.order;
  points_out_ = taken.points();
  return taken;
}

void outbox::settle_reading(const reading& r, std::uint64_t rejected) noexcept {
  const std::uint64_t not_taken = std::min(rejected, r.points());
  point_counts_.rejected += not_taken;
  point_counts_.sent += r.points() - not_taken;
  reading_out_ = points_out_ = 0;
}

void outbox::drop_reading(const reading& r) noexcept {
  point_counts_.dropped += r.points();
  reading_out_ = points_out_ = 0;
}

void outbox::give_back(reading r) {
  reading_out_ = points_out_ = 0;
  const auto [place, is_back] = readings_.try_emplace(r.source);
  if (is_back) {
    place->second = std::move(r);
  } else {
    place->second.order = std::min(place->second.order, r.order);
  }
}

void outbox::drop_taken() noexcept {
  span_counts_.dropped += std::exchange(spans_out_, 0);
  point_counts_.dropped += std::exchange(points_out_, 0);
  reading_out_ = 0;
}

void outbox::drop_everything() noexcept {
  drop_taken();
  span_counts_.dropped += spans_.size();
  spans_.clear();
  for (const auto& [source, r] : readings_) point_counts_.dropped += r.points();
  readings_.clear();
}

bool outbox::is_past(const mark& m) const noexcept {
  const auto& [sent, rejected, dropped, waiting] = span_counts_;
  if (sent + rejected + dropped < m.spans) return false;
  if (reading_out_ != 0 && reading_out_ <= m.readings) return false;
  return std::ranges::none_of(readings_,
                              [&](const auto& entry) { return entry.second.order <= m.readings; });
}

otlp_counts outbox::spans() const noexcept {
  otlp_counts counts = span_counts_;
  counts.waiting = spans_.size() + spans_out_;
  return counts;
}

otlp_counts outbox::points() const noexcept {
  otlp_counts counts = point_counts_;
  counts.waiting = points_out_;
  for (const auto& [source, r] : readings_) counts.waiting += r.points();
  return counts;
}

}  // namespace weft::otlp
