#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

namespace weft::flow {

// What a group of instances must do at which time: stop attempts that take too long, begin those
// again whose rest is over, end altogether.
//
// Threads: one at a time.
class due_times {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  struct attempt {
    std::size_t index = 0;
    unsigned number = 0;  // of the attempt, from 1
    friend bool operator==(const attempt&, const attempt&) = default;
  };

  due_times() = default;
  due_times(time_point now, std::optional<std::chrono::nanoseconds> attempt_timeout,
            std::optional<std::chrono::nanoseconds> total_timeout) noexcept;

  void started(attempt a, time_point now);
  void rests(std::size_t index, time_point now, std::chrono::nanoseconds pause);
  void clear() noexcept;

  [[nodiscard]] std::optional<time_point> next() const noexcept;

  struct due {
    std::vector<attempt> too_long;  // those that have ended meanwhile among them
    std::vector<std::size_t> rested;
    bool total = false;
  };
  [[nodiscard]] due take(time_point now);

 private:
  struct limited_attempt {
    time_point due;
    attempt what;
  };
  struct resting {
    time_point until;
    std::size_t index;
    // The earliest is on top of the queue, and of these the lowest index.
    friend bool operator<(const resting& a, const resting& b) noexcept {
      return a.until != b.until ? a.until > b.until : a.index > b.index;
    }
  };

  std::optional<std::chrono::nanoseconds> attempt_timeout_;
  std::optional<time_point> end_;
  // In order of time, because all attempts may take equally long.
  std::deque<limited_attempt> running_;
  std::priority_queue<resting> resting_;
};

}  // namespace weft::flow
