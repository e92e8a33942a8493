#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  // `name` is the call to blame. Throws used_after_fork for futures that will never be ready.
  arrivals(std::vector<future_state_base*> futures, const char* name);
  ~arrivals();
  arrivals(const arrivals&) = delete;
  arrivals& operator=(const arrivals&) = delete;

  // The index of the next one; nothing when all were told or the deadline came first.
  // Throws used_after_fork in a child that was forked meanwhile.
  std::optional<std::size_t> next(std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] bool all_told() const noexcept { return told_ == futures_.size(); }

 private:
  struct arrival final : waiter, ready_list::node {
    void wake() noexcept override { owner->ready_.push(*this); }
    arrivals* owner = nullptr;
    bool told = false;
  };
  void choose_home() noexcept;
  void require_reachable(const future_state_base& f) const;
  ready_list::node* pop(std::chrono::steady_clock::time_point deadline) noexcept;

  std::vector<future_state_base*> futures_;
  std::unique_ptr<arrival[]> each_;
  ready_list ready_;
  std::size_t told_ = 0;
  crew* home_ = nullptr;  // whose work is waited for; untouched unless it has to be driven
  bool drive_ = false;
  const char* name_;
  const std::uint32_t process_ = process_generation();
};

}  // namespace weft::detail
