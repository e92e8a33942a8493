#include <weft/coro/timer_wheel.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <weft/base/assert.hpp>

namespace weft::coro {
namespace {

using ticks = timer_wheel::ticks;
using time_point = timer_wheel::time_point;

// Times before the epoch of the clock have passed for sure.
std::uint64_t number_of(ticks since_epoch) noexcept {
  return static_cast<std::uint64_t>(std::max(since_epoch, ticks::zero()).count());
}

std::uint64_t tick_from(time_point due) noexcept {
  return number_of(std::chrono::ceil<ticks>(due.time_since_epoch()));
}

std::uint64_t tick_until(time_point now) noexcept {
  return number_of(std::chrono::floor<ticks>(now.time_since_epoch()));
}

// The tick of time_point::max() begins after it, so it is the end of time.
time_point begin_of(std::uint64_t number) noexcept {
  constexpr auto last = std::chrono::floor<ticks>(time_point::max().time_since_epoch());
  const ticks since_epoch(number);
  return since_epoch > last ? time_point::max() : time_point(since_epoch);
}

}  // namespace

timer_wheel::timer_wheel(time_point now) noexcept : now_(tick_until(now)) {}

void timer_wheel::add(timer_node& node, time_point due) noexcept {
  WEFT_ASSERT(!contains(node), "a timer is in a wheel already; remove it before it is added again");
  node.due_tick = std::max(tick_from(due), now_);
  append(node);
  ++size_;
}

void timer_wheel::remove(timer_node& node) noexcept {
  const position at = position_of(node.due_tick);
  level& on = levels_[at.level];
  timer_node*& first = on.slots[at.slot];
  WEFT_ASSERT(contains(node) && first != nullptr,
              "a timer is removed that is not in this wheel: it has fired, or was never added");
  if (node.next != nullptr) {
    node.next->previous = node.previous;
  } else {
    first->previous = node.previous;
  }
  if (first != &node) {
    node.previous->next = node.next;
  } else {
    first = node.next;
    if (first == nullptr) on.occupied &= ~(std::uint64_t{1} << at.slot);
  }
  node.previous = nullptr;
  node.next = nullptr;
  --size_;
}

timer_node* timer_wheel::advance(time_point now) noexcept {
  const std::uint64_t until = std::max(tick_until(now), now_);
  timer_node* due = nullptr;
  timer_node** end = &due;
  for (auto next = next_event(); next && next->tick <= until; next = next_event()) {
    now_ = next->tick;
    timer_node* node = take_slot(next->at);
    if (next->at.level == 0) {
      *end = node;
      for (; node != nullptr; node = node->next) {
        node->previous = nullptr;
        end = &node->next;
        --size_;
      }
    } else {
      while (node != nullptr) append(*std::exchange(node, node->next));
    }
  }
  now_ = until;
  return due;
}

std::optional<time_point> timer_wheel::next_due() const noexcept {
  const auto next = next_event();
  if (!next) return std::nullopt;
  return begin_of(next->tick);
}

timer_wheel::position timer_wheel::position_of(std::uint64_t tick) const noexcept {
  const auto differing = static_cast<unsigned>(std::bit_width((tick ^ now_) | 1U)) - 1;
  const unsigned height = differing / slot_bits;
  return {height, static_cast<unsigned>(tick >> (height * slot_bits)) % slot_count};
}

// By invariant 3 it is in the first occupied slot of the lowest level that has one.
std::optional<timer_wheel::event> timer_wheel::next_event() const noexcept {
  for (unsigned i = 0; i < level_count; ++i) {
    if (levels_[i].occupied == 0) continue;
    const auto slot = static_cast<unsigned>(std::countr_zero(levels_[i].occupied));
    const unsigned shift = i * slot_bits;
    const std::uint64_t above = now_ >> (shift + slot_bits) << slot_bits;
    return event{{i, slot}, (above | slot) << shift};
  }
  return std::nullopt;
}

void timer_wheel::append(timer_node& node) noexcept {
  const position at = position_of(node.due_tick);
  level& on = levels_[at.level];
  timer_node*& first = on.slots[at.slot];
  node.next = nullptr;
  if (first == nullptr) {
    first = &node;
    node.previous = &node;
    on.occupied |= std::uint64_t{1} << at.slot;
  } else {
    node.previous = first->previous;
    node.previous->next = &node;
    first->previous = &node;
  }
}

timer_node* timer_wheel::take_slot(position at) noexcept {
  level& on = levels_[at.level];
  on.occupied &= ~(std::uint64_t{1} << at.slot);
  return std::exchange(on.slots[at.slot], nullptr);
}

}  // namespace weft::coro
