#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

// Reads "30s", "1.5 s", "500ms", "2m", "1h30m"; units are ns, us, ms, s, m, h, d. Nothing for
// anything else, a number without a unit, or more than about three hundred years.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// Reads "512", "64 KiB", "1.5GB": bytes, with units B, KB, MB, GB, TB of a thousand and KiB, MiB,
// GiB, TiB (or K, M, G, T) of 1024. Nothing for anything else, or what does not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// "950 ms", "1.23 s", "2 m 5 s": three digits at most.
[[nodiscard]] std::string format_duration(double seconds);

// "512 B", "1.5 MiB".
[[nodiscard]] std::string format_size(std::uint64_t bytes);

}  // namespace weft
