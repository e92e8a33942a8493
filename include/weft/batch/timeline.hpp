#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/batch/record.hpp>

namespace weft::batch {

// Why a worker had nothing to run; see gap_parts.
enum class idle_reason : std::uint8_t { dependency, tail, admission, overhead };

[[nodiscard]] std::string_view name_of(idle_reason why) noexcept;

struct idle_span {
  unsigned worker = 0;
  double begin = 0;  // seconds since the beginning of the run
  double end = 0;
  idle_reason why = idle_reason::tail;

  bool operator==(const idle_span&) const = default;
};

// When each worker was idle, by worker and time. Where more workers were idle than one reason
// explains, those with the lower numbers get the first of it. A worker that a rule of weight two
// kept from running others is not idle.
[[nodiscard]] std::vector<idle_span> idle_spans(const run_record& record);

// What went on from a moment until the next.
struct load_level {
  double at = 0;
  std::size_t ready = 0;     // rules that could have begun
  std::size_t running = 0;   // rules
  std::uint64_t memory = 0;  // bytes: the peaks of what ran

  bool operator==(const load_level&) const = default;
};

// Every change of it, in order; the first is at 0.
[[nodiscard]] std::vector<load_level> load_levels(const run_record& record);

}  // namespace weft::batch
