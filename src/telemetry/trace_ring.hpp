#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/base/atomic.hpp>

namespace weft::telemetry {

using trace_words = std::array<std::uint64_t, 4>;

// The last events of one thread: it writes, over the oldest ones; anybody may read meanwhile.
//
// 1. The writer stores the words of event n after it has stored `written_` = n (every word is a
//    release store, and n was stored before it). So whoever reads a word of event n (acquire) and
//    then reads `written_` reads n or more.
// 2. Event n lies where event n - capacity was. A reader that has copied event i and then finds
//    `written_` at w knows by 1. that nothing was stored over it if w < i + capacity.
// 3. Events before `written_` (acquire) are whole, because it is stored (release) after them.
class trace_ring {
 public:
  explicit trace_ring(std::size_t at_least)
      : mask_(std::bit_ceil(at_least) - 1), slots_(std::make_unique<slot[]>(mask_ + 1)) {}

  // By the one writer.
  void push(const trace_words& words) noexcept {
    const std::uint64_t n = written_.load(std::memory_order_relaxed);
    slot& here = slots_[n & mask_];
    // One by one, not in a loop: so they come from registers, and not through an array.
    here[0].store(words[0], std::memory_order_release);
    here[1].store(words[1], std::memory_order_release);
    here[2].store(words[2], std::memory_order_release);
    here[3].store(words[3], std::memory_order_release);
    written_.store(n + 1, std::memory_order_release);
  }

  [[nodiscard]] std::uint64_t written() const noexcept {
    return written_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  // Event `first` and what came after it, or, where that is forgotten, what is still there. `first`
  // becomes the one after the last.
  [[nodiscard]] std::vector<trace_words> read(std::uint64_t& first) const {
    const std::uint64_t end = written();
    std::uint64_t begin = end > mask_ ? end - mask_ : 0;
    if (begin < first) begin = first;
    std::vector<trace_words> copied;
    copied.reserve(begin < end ? end - begin : 0);
    for (std::uint64_t n = begin; n < end; ++n) {
      const slot& here = slots_[n & mask_];
      trace_words& words = copied.emplace_back();
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = here[i].load(std::memory_order_acquire);
      }
    }
    const std::uint64_t now = written();
    const std::uint64_t safe = now > mask_ ? now - mask_ : 0;
    if (safe > begin) {
      const std::uint64_t lost = safe < end ? safe - begin : end - begin;
      copied.erase(copied.begin(), copied.begin() + static_cast<std::ptrdiff_t>(lost));
    }
    first = end > first ? end : first;
    return copied;
  }

 private:
  using slot = std::array<atomic<std::uint64_t>, 4>;

  const std::size_t mask_;
  const std::unique_ptr<slot[]> slots_;
  atomic<std::uint64_t> written_{0};
};

}  // namespace weft::telemetry
