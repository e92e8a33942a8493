#pragma once

#include <cstdint>
#include <string>

namespace weft {

// What kind of thing the outside world did to us. The program weft ends with the number, which is
// the one of sysexits.h.
enum class error_kind : std::uint8_t {
  bad_data = 65,       // a file says something that makes no sense
  missing_input = 66,  // a file is not there or cannot be read
  unavailable = 69,    // a service does not answer
  cannot_create = 73,  // a file cannot be made
  io_error = 74,       // reading or writing failed half-way
  try_again = 75,      // somebody else has it now
  no_permission = 77,
  configuration = 78,
};

// A failure that is nobody's bug. The message says what was wrong, where, and what to do.
struct error {
  error_kind kind = error_kind::io_error;
  std::string message;
};

}  // namespace weft
