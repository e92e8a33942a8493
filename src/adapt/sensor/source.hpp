#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/adapt/sensed.hpp>

// What the sensors share: files of the kernel, read with the reason when that fails.

namespace weft::adapt::detail {

[[nodiscard]] sensed<std::string> read_source(const std::string& path);

// A file that holds one number.
[[nodiscard]] sensed<std::uint64_t> read_number(const std::string& path);

// The number after `key` at the start of a line: "nr_periods 12" or "MemTotal:  4096 kB".
[[nodiscard]] std::optional<std::uint64_t> keyed_number(std::string_view text,
                                                        std::string_view key);

// The file is there, and what it says is not what the kernel writes.
[[nodiscard]] unavailable makes_no_sense(const std::string& path);

// Counters tell something only between two readings.
[[nodiscard]] unavailable needs_a_second_reading();

}  // namespace weft::adapt::detail
