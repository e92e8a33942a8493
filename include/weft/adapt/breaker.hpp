#pragma once

#include <cstdint>

namespace weft::adapt {

enum class outcome : std::uint8_t { success, failure };

enum class circuit : std::uint8_t {
  closed,  // work may flow
  open,    // too much of it fails: no more than the minimum
};

// What a breaker remembers.
struct breaker_state {
  std::uint16_t failures = 0;  // one bit for each of the last attempts, set when it failed
  std::uint8_t attempts = 0;   // how many of the bits count, at most breaker::window
  adapt::circuit circuit = adapt::circuit::closed;
};

// Pure: what a breaker remembers after one more finished attempt.
[[nodiscard]] breaker_state step(const breaker_state& before, outcome latest) noexcept;

// Opens when most of the last ten finished attempts failed, closes when few of them do.
//
// Between the two it stays what it was, so a rate at the border does not make it flap. Without
// traffic it stays open: its user still lets the minimum through, and those attempts close it.
// A failure is an error, a timeout or a crash; attempts that were cancelled, postponed or handed
// back are not recorded.
//
// Threads: one at a time.
class breaker {
 public:
  static constexpr unsigned window = 10;    // fewer attempts say nothing
  static constexpr unsigned opens_at = 6;   // failures in the window: more than 50 %
  static constexpr unsigned closes_at = 2;  // less than 25 %

  void record(outcome latest) noexcept { state_ = step(state_, latest); }
  // Closed again, with ten attempts to go before it may open.
  void reset() noexcept { state_ = {}; }

  [[nodiscard]] adapt::circuit circuit() const noexcept { return state_.circuit; }
  [[nodiscard]] unsigned attempts() const noexcept { return state_.attempts; }
  [[nodiscard]] unsigned failures() const noexcept;

 private:
  breaker_state state_;
};

}  // namespace weft::adapt
