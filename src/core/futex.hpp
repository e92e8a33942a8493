#pragma once

#include <time.h>
#include <cstdint>

#include <weft/base/atomic.hpp>

// The two system calls under bell. Apart, so that the model checker can put its own in their place.
namespace weft::detail {

enum class futex_result : std::uint8_t { woken_or_changed, timed_out };

// Sleeps while the word holds `expected`. May return early. A null deadline is for ever; otherwise
// it is a time of CLOCK_MONOTONIC.
futex_result futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                        const timespec* deadline) noexcept;

// Wakes one sleeper. The word itself is not touched and may be gone: only its address counts.
void futex_wake_one(atomic<std::uint32_t>& word) noexcept;

}  // namespace weft::detail
