#include <weft/flow/due_times.hpp>

#include <algorithm>

namespace weft::flow {
namespace {

using time_point = due_times::time_point;

// Users say hours::max() and mean never.
time_point later(time_point now, std::chrono::nanoseconds time) noexcept {
  return time >= time_point::max() - now ? time_point::max() : now + time;
}

}  // namespace

due_times::due_times(time_point now, std::optional<std::chrono::nanoseconds> attempt_timeout,
                     std::optional<std::chrono::nanoseconds> total_timeout) noexcept
    : attempt_timeout_(attempt_timeout) {
  if (total_timeout) end_ = later(now, *total_timeout);
}

void due_times::started(attempt a, time_point now) {
  if (attempt_timeout_) running_.push_back({later(now, *attempt_timeout_), a});
}

void due_times::rests(std::size_t index, time_point now, std::chrono::nanoseconds pause) {
  resting_.push({later(now, pause), index});
}

void due_times::clear() noexcept {
  end_.reset();
  running_.clear();
  resting_ = {};
}

std::optional<time_point> due_times::next() const noexcept {
  std::optional<time_point> first = end_;
  const auto consider = [&](time_point t) { first = first ? std::min(*first, t) : t; };
  if (!running_.empty()) consider(running_.front().due);
  if (!resting_.empty()) consider(resting_.top().until);
  return first;
}

due_times::due due_times::take(time_point now) {
  due result;
  for (; !running_.empty() && running_.front().due <= now; running_.pop_front()) {
    result.too_long.push_back(running_.front().what);
  }
  for (; !resting_.empty() && resting_.top().until <= now; resting_.pop()) {
    result.rested.push_back(resting_.top().index);
  }
  if (end_ && *end_ <= now) {
    result.total = true;
    end_.reset();
  }
  return result;
}

}  // namespace weft::flow
