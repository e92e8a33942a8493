#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ratio>

namespace weft::coro {

// A place in a timer_wheel. It is part of what waits, so that no timer needs memory of its own.
struct timer_node {
  timer_node* previous = nullptr;  // null: in no wheel
  timer_node* next = nullptr;
  std::uint64_t due_tick = 0;
};

// Timers in ticks of 66 microseconds: a hierarchical wheel (Varghese and Lauck, SOSP 1987). A level
// has 64 slots, and a slot of one level is as long as all of the level below. A timer is put where
// its tick first differs from the present one, so it moves down at most once per level; a bitmap
// per level finds the next one without walking over empty slots.
//
// Timers never fire early: a due time is rounded up to a tick, and the present rounded down.
//
// Threads: one at a time; the owner locks. There is no clock inside: time is what the owner says.
// Lifetime: a node stays where it is until it has fired or was removed. A wheel that is destroyed
// forgets its nodes and touches none.
class timer_wheel {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  // About what the kernel itself allows a timer to be late, and a power of two.
  using ticks = std::chrono::duration<std::int64_t, std::ratio<1 << 16, 1'000'000'000>>;

  // `now` saves the first timers a way through the levels; any time before it is as good.
  explicit timer_wheel(time_point now = {}) noexcept;
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  // A time that has passed already is due at the next advance(). time_point::max() is a time like
  // any other. The node must be in no wheel.
  void add(timer_node& node, time_point due) noexcept;
  // The node must be in this wheel. One that has fired is in none.
  void remove(timer_node& node) noexcept;
  [[nodiscard]] static bool contains(const timer_node& node) noexcept {
    return node.previous != nullptr;
  }

  // Takes out what is due and returns it as a list through `next`, null if there is nothing: by
  // tick, and within a tick in the order in which it was added. Read `next` before the node is
  // added again. A time before that of an earlier call counts as that one.
  [[nodiscard]] timer_node* advance(time_point now) noexcept;

  // When to call advance() next; nothing while the wheel is empty. It is the tick of the first
  // timer if that one is on the lowest level, as all within the 64 ticks aligned around the present
  // are. Otherwise it is the begin of the slot that holds the first timer, which comes no later:
  // advance() then may return nothing, and the next answer is closer.
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr unsigned slot_bits = 6;
  static constexpr unsigned slot_count = 1U << slot_bits;
  // 48 bits of ticks: time_point::max() takes 47.
  static constexpr unsigned level_count = 8;

  // A list that begins with `first`; first->previous is its last node, and that one's next is null.
  struct level {
    std::uint64_t occupied = 0;  // bit i: slots[i] has a node
    std::array<timer_node*, slot_count> slots{};
  };
  struct position {
    unsigned level = 0;
    unsigned slot = 0;
  };
  struct event {
    position at;
    std::uint64_t tick = 0;
  };

  [[nodiscard]] position position_of(std::uint64_t tick) const noexcept;
  [[nodiscard]] std::optional<event> next_event() const noexcept;
  void append(timer_node& node) noexcept;
  [[nodiscard]] timer_node* take_slot(position at) noexcept;

  // 1. No node's tick is before now_.
  // 2. A node is in position_of(its tick), although now_ moves on: it never passes the begin of an
  //    occupied slot without emptying it.
  // 3. So nodes of the same tick share a slot, in the order in which they were added; and all on
  //    one level are due before any on the next.
  std::uint64_t now_;
  std::size_t size_ = 0;
  std::array<level, level_count> levels_{};
};

}  // namespace weft::coro
