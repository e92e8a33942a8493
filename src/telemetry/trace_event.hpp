#pragma once

#include <cstdint>

#include <weft/core/trace_id.hpp>

#include "telemetry/trace_ring.hpp"

namespace weft::telemetry {

// Where something happened: a worker of a lane.
struct trace_place {
  static constexpr unsigned lanes_max = 1U << 12U;

  std::uint16_t lane = 0;  // below lanes_max
  std::uint16_t worker = 0;

  bool operator==(const trace_place&) const = default;
};

// One event, as the ring has it. The meaning of the three words depends on the kind.
struct trace_event {
  enum class kind : std::uint8_t {
    ran,        // begin, end, job; name
    guest,      // begin, end
    slept,      // begin, end
    queued,     // at, job
    stolen,     // at, job, victim
    withdrawn,  // at, job; of the last `queued` with that job before it
    trace,      // high and low half of the trace's id, the context's span; of the `ran` after it
  };
  // Names that have a number of their own.
  static constexpr std::uint32_t no_name = 0;

  kind what = kind::ran;
  trace_place place;
  std::uint32_t name = no_name;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;

  // The last word.
  [[nodiscard]] static std::uint64_t about(kind what, trace_place place,
                                           std::uint32_t name) noexcept {
    return static_cast<std::uint64_t>(what) << 60U | std::uint64_t{place.lane} << 48U |
           std::uint64_t{place.worker} << 32U | name;
  }
  [[nodiscard]] trace_words pack() const noexcept {
    return {first, second, third, about(what, place, name)};
  }
  static trace_event unpack(const trace_words& words) noexcept {
    return {.what = static_cast<kind>(words[3] >> 60U),
            .place = {.lane = static_cast<std::uint16_t>((words[3] >> 48U) & 0xfffU),
                      .worker = static_cast<std::uint16_t>(words[3] >> 32U)},
            .name = static_cast<std::uint32_t>(words[3]),
            .first = words[0],
            .second = words[1],
            .third = words[2]};
  }
};

}  // namespace weft::telemetry
