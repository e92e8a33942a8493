#pragma once

#include <cstdint>
#include <system_error>

namespace weft {

// The scheduling class of threads that compute.
enum class cpu_class : std::uint8_t {
  normal,
  low,  // leaves a core almost wholly to whatever else wants it
};

namespace io {

// Puts the calling thread into the low class: the highest nice value, which is 1.5 % of a core that
// another thread wants. Without privilege there is no way back, and threads and processes that the
// thread creates begin in the same class; weft::process starts commands in that of its supervisor.
// An error when the system refuses; the thread then is as it was.
[[nodiscard]] std::error_code lower_this_thread() noexcept;

}  // namespace io
}  // namespace weft
