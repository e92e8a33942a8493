#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/base/atomic.hpp>

namespace weft::telemetry {

using open_words = std::array<std::uint64_t, 3>;

// What a thread has begun and not ended, innermost last: it pushes and pops, anybody may look
// meanwhile.
//
// A push stores `pushes_` before the words, and `depth_` after them; all are release stores. A
// reader reads (acquire) `pushes_`, then `depth_`, then words. From `pushes_` it knows the pops
// before that push, so a depth that it reads is not older; from the depth it knows the words of
// all pushes below it; and having read a word of a later push it finds that push in `pushes_`. So
// one who reads the same `pushes_` before and after has read nothing that was written meanwhile;
// pops write no words.
template <std::size_t Capacity>
class open_stack {
 public:
  // -- by the thread ------------------------------------------------------------------------------
  [[nodiscard]] std::size_t size() const noexcept { return depth_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_full() const noexcept { return size() == Capacity; }
  // Not when it is full.
  void push(const open_words& words) noexcept {
    const std::size_t depth = size();
    pushes_.store(pushes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    // One by one, not in a loop: so they come from registers, and not through an array.
    entry& here = entries_[depth];
    here[0].store(words[0], std::memory_order_release);
    here[1].store(words[1], std::memory_order_release);
    here[2].store(words[2], std::memory_order_release);
    depth_.store(depth + 1, std::memory_order_release);
  }
  // Not when it is empty. relaxed: the thread has written them itself.
  [[nodiscard]] open_words top() const noexcept {
    const entry& here = entries_[size() - 1];
    return {here[0].load(std::memory_order_relaxed), here[1].load(std::memory_order_relaxed),
            here[2].load(std::memory_order_relaxed)};
  }
  // Not when it is empty.
  void pop() noexcept { depth_.store(size() - 1, std::memory_order_release); }

  // -- by anybody ---------------------------------------------------------------------------------
  // Outermost first; nothing where it changes too quickly to be seen.
  [[nodiscard]] std::vector<open_words> read() const {
    constexpr int tries = 3;
    for (int i = 0; i < tries; ++i) {
      const std::uint64_t before = pushes_.load(std::memory_order_acquire);
      std::vector<open_words> seen(depth_.load(std::memory_order_acquire));
      for (std::size_t d = 0; d < seen.size(); ++d) {
        for (std::size_t k = 0; k < seen[d].size(); ++k) {
          seen[d][k] = entries_[d][k].load(std::memory_order_acquire);
        }
      }
      if (pushes_.load(std::memory_order_relaxed) == before) return seen;
    }
    return {};
  }

 private:
  using entry = std::array<atomic<std::uint64_t>, 3>;

  atomic<std::uint64_t> pushes_{0};
  atomic<std::size_t> depth_{0};
  std::array<entry, Capacity> entries_{};
};

}  // namespace weft::telemetry
