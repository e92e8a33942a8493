#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::otlp {

// What a collector says to a request, without its transport.
struct reply {
  int status = 0;
  std::string retry_after;  // the header, as it came
  std::string body;
};

enum class verdict : std::uint8_t {
  taken,    // as far as `rejected` says
  later,    // the same may be sent again
  refused,  // it must not be sent again
};

struct judgement {
  verdict what = verdict::refused;
  std::uint64_t rejected = 0;
  // With `later`, when the collector said it.
  std::optional<std::chrono::milliseconds> pause;
  // What went wrong, and what to do; empty: nothing did.
  std::string problem;
};

// Pure: `rejected_name` is the field in which the answer counts what it did not take.
[[nodiscard]] judgement judge(const reply& answer, std::string_view rejected_name,
                              std::chrono::sys_seconds now);

// Of the header Retry-After: seconds, or a date. At most an hour; nothing when it is neither.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view header, std::chrono::sys_seconds now);

// The pause after the n-th failure in a row, from 1. `random` is from 0 to 1.
[[nodiscard]] std::chrono::milliseconds backoff(unsigned failures, std::chrono::milliseconds first,
                                                std::chrono::milliseconds longest,
                                                double random) noexcept;

}  // namespace weft::otlp
