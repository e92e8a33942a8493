#include <weft/adapt/breaker.hpp>

#include <algorithm>
#include <bit>

namespace weft::adapt {

breaker_state step(const breaker_state& before, outcome latest) noexcept {
  constexpr unsigned window_bits = (1U << breaker::window) - 1U;
  const unsigned failed = latest == outcome::failure ? 1U : 0U;

  breaker_state after = before;
  after.failures =
      static_cast<std::uint16_t>((unsigned{before.failures} << 1U | failed) & window_bits);
  after.attempts = static_cast<std::uint8_t>(std::min(before.attempts + 1U, breaker::window));
  if (after.attempts < breaker::window) return after;

  const auto failures = static_cast<unsigned>(std::popcount(after.failures));
  if (failures >= breaker::opens_at) after.circuit = circuit::open;
  if (failures <= breaker::closes_at) after.circuit = circuit::closed;
  return after;
}

unsigned breaker::failures() const noexcept {
  return static_cast<unsigned>(std::popcount(state_.failures));
}

}  // namespace weft::adapt
