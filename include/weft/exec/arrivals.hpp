#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <weft/core/future.hpp>
#include <weft/core/latch.hpp>
#include <weft/exec/ready_list.hpp>

namespace weft::detail {

// Waits at several futures at once and tells which are done, in the order in which that happens.
//
// Threads: one. Lifetime: the futures stay where they are, and nobody else waits at them meanwhile;
// afterwards those that were not told can be waited for as before.
class arrivals {
 public:
  explicit arrivals(std::vector<future_state_base*> futures);
  ~arrivals();
  arrivals(const arrivals&) = delete;
  arrivals& operator=(const arrivals&) = delete;

  // The index of the next one; nothing when all were told or the deadline came first.
  std::optional<std::size_t> next(std::chrono::steady_clock::time_point deadline) noexcept;
  [[nodiscard]] bool all_told() const noexcept { return told_ == futures_.size(); }

 private:
  struct arrival final : waiter, ready_list::node {
    void wake() noexcept override { owner->ready_.push(*this); }
    arrivals* owner = nullptr;
    bool told = false;
  };
  void choose_home() noexcept;
  ready_list::node* pop(std::chrono::steady_clock::time_point deadline) noexcept;

  std::vector<future_state_base*> futures_;
  std::unique_ptr<arrival[]> each_;
  ready_list ready_;
  std::size_t told_ = 0;
  crew* home_ = nullptr;  // whose work is waited for; untouched unless it has to be driven
  bool drive_ = false;
};

}  // namespace weft::detail
