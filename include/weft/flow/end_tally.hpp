#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <weft/base/atomic.hpp>

namespace weft::flow {

// Ends that nobody has asked about yet: who ends leaves itself here, without the lock of the group,
// and somebody with the lock collects all of them later.
//
// The word decides, at one moment for all: it counts down by one for every end, and says when they
// are to be left no more.
//   bit 63       closed: whoever ends from now on takes the lock and counts itself
//   bits 0..62   unsealed - ends; once it is sealed, those that have not ended
//
//   1. Who has counted down before it was closed, and was not the last, leaves itself: perhaps a
//      moment later, so that who collects may have to wait for it.
//   2. The last one to end does not leave itself: it takes the lock, collects the others, and the
//      group is complete with it. So whoever leaves itself is not the one for whom a group waits,
//      and the group is there until it has done so; after that it touches nothing.
//
// Threads: leave() by whoever ends; the others with the lock of the group. Node has a `next_ended`.
template <class Node>
class end_tally {
 public:
  // False: count it with the lock. True: the group may be gone.
  [[nodiscard]] bool leave(Node& node) noexcept {
    // relaxed, here and below: the word publishes nothing, nodes are published by [P].
    if ((word_.load(std::memory_order_relaxed) & closed) != 0) return false;
    const std::uint64_t before = word_.fetch_sub(1, std::memory_order_relaxed);
    if (before == 1 || (before & closed) != 0) return false;
    Node* first = first_.load(std::memory_order_relaxed);
    do {
      node.next_ended = first;
      // [P] release: publishes the node. Pairs with [T].
    } while (!first_.compare_exchange_weak(first, &node, std::memory_order_release,
                                           std::memory_order_relaxed));
    return true;
  }

  // -- with the lock ------------------------------------------------------------------------------
  // No more than so many will end. Returns how many of them have not.
  std::size_t seal(std::size_t count) noexcept {
    total_ = count;
    return word_.fetch_add(count - unsealed, std::memory_order_relaxed) + count - unsealed;
  }
  // None is left here any more.
  void close() noexcept {
    const std::uint64_t before = word_.fetch_or(closed, std::memory_order_relaxed);
    if ((before & closed) != 0) return;
    has_closed_ = true;
    // When it is sealed and none remains, the last one is on its way to the lock. (Or none is: when
    // all had ended before it was sealed, they were collected then.)
    to_come_ = before == 0 ? total_ - 1 : total_ - before;
  }
  [[nodiscard]] bool is_closed() const noexcept { return has_closed_; }
  // How many were left here by now, when it is closed; or when the caller is the last to end.
  [[nodiscard]] std::size_t left() const noexcept { return has_closed_ ? to_come_ : total_ - 1; }

  // Those that were left and not taken before, in the order in which they ended, linked.
  [[nodiscard]] Node* take() noexcept {
    if (first_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // [T] acquire: pairs with [P] of each.
    Node* newest = first_.exchange(nullptr, std::memory_order_acquire);
    Node* oldest = nullptr;
    while (newest != nullptr) {
      Node* const before = std::exchange(newest->next_ended, oldest);
      oldest = std::exchange(newest, before);
    }
    return oldest;
  }

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t unsealed = std::uint64_t{1} << 62U;

  // In one cache line: who ends changes both.
  alignas(64) atomic<std::uint64_t> word_{unsealed};
  atomic<Node*> first_{nullptr};  // newest first
  // Guarded by the lock.
  alignas(64) std::uint64_t total_ = unsealed;  // of what the word has counted down
  std::size_t to_come_ = 0;
  bool has_closed_ = false;
};

}  // namespace weft::flow
