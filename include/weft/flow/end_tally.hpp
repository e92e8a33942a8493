#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/atomic.hpp>

namespace weft::flow {

// Ends that nobody has asked about yet: who ends leaves itself here, without the lock of the group,
// and somebody with the lock counts all of them later.
//
// One word, so that an end counts and has its place among the others at the same moment:
//   bit 63       closed: whoever ends from now on takes the lock and counts itself
//   bits 32..62  unsealed - ends; once it is sealed, those that have not ended
//   bits 0..31   who was left last: its index + 1; 0: nobody
//
//   1. Who is left notes who was left before it. So the order of completion is there for whoever
//      wants it, who walks back from the last; and nobody has to walk in order to count.
//   2. The last one to end leaves itself with the lock, and the group is complete with it. So who
//      leaves itself without is not the one for whom a group waits, and the group is there until
//      it has done so; after that it touches nothing.
//
// Threads: leave() by whoever ends; the others with the lock of the group.
class end_tally {
 public:
  // It is to be closed before one with this index or a higher one begins: more ends than these
  // would look as if one were to come, although it is not sealed.
  static constexpr std::size_t capacity = (std::size_t{1} << 30U) - 1;

  // `left_before` belongs to who ends: index + 1 of the one before it. False: take the lock. True:
  // the group may be gone. (A template for the model, which replaces it.)
  template <class LeftBefore>
  [[nodiscard]] bool leave(std::size_t index, LeftBefore& left_before) noexcept {
    return leave(index, left_before, may_be_last::no);
  }

  // -- with the lock ------------------------------------------------------------------------------
  // As leave(), also for the last. False: it is closed.
  template <class LeftBefore>
  [[nodiscard]] bool leave_with_lock(std::size_t index, LeftBefore& left_before) noexcept {
    return leave(index, left_before, may_be_last::yes);
  }
  // No more than so many will end. Returns how many of them have not.
  std::size_t seal(std::size_t count) noexcept {
    const std::uint64_t less = (total_ - count) << count_shift;
    total_ = count;
    // relaxed: publishes nothing; who wants to see those that have ended calls left() or newest().
    return count_in(word_.fetch_sub(less, std::memory_order_relaxed) - less);
  }
  // None is left here any more.
  void close() noexcept {
    if (has_closed_) return;
    has_closed_ = true;
    // relaxed: as in seal().
    word_.fetch_or(closed, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_closed() const noexcept { return has_closed_; }

  // How many were left here by now.
  [[nodiscard]] std::size_t left() const noexcept { return total_ - count_in(seen()); }
  // Index + 1 of who was left last; 0: nobody was.
  [[nodiscard]] std::uint32_t newest() const noexcept {
    return static_cast<std::uint32_t>(seen() & newest_mask);
  }

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63U;
  static constexpr unsigned count_shift = 32;
  static constexpr std::uint64_t one = std::uint64_t{1} << count_shift;
  static constexpr std::uint64_t newest_mask = one - 1;
  static constexpr std::size_t unsealed = capacity + 1;  // so that none seems to be the last

  static std::size_t count_in(std::uint64_t word) noexcept {
    return (word & ~closed) >> count_shift;
  }

  enum class may_be_last : std::uint8_t { no, yes };
  template <class LeftBefore>
  bool leave(std::size_t index, LeftBefore& left_before, may_be_last which) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    std::uint64_t left = 0;
    do {
      if ((seen & closed) != 0) return false;
      if (which == may_be_last::no && count_in(seen) == 1) return false;
      left_before = static_cast<std::uint32_t>(seen & newest_mask);
      left = ((seen & ~newest_mask) - one) | (index + 1);
      // [P] release: publishes what became of it. Others change the word by read-modify-write
      // only, so that [S] sees all that were left before.
    } while (!word_.compare_exchange_weak(seen, left, std::memory_order_release,
                                          std::memory_order_relaxed));
    return true;
  }
  // [S] acquire: pairs with [P] of each that was left.
  [[nodiscard]] std::uint64_t seen() const noexcept {
    return word_.load(std::memory_order_acquire);
  }

  // Apart from what whoever holds the lock uses.
  alignas(64) atomic<std::uint64_t> word_{std::uint64_t{unsealed} << count_shift};
  // Guarded by the lock.
  alignas(64) std::size_t total_ = unsealed;  // of what the word has counted down
  bool has_closed_ = false;
};

}  // namespace weft::flow
