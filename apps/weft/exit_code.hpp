#pragma once

namespace weft::cli {

// What the program ends with; the numbers are those of sysexits.h.
enum exit_code : int {
  ok = 0,
  usage = 2,
  bad_data = 65,
  missing_input = 66,
  io_error = 74,
  no_permission = 77,
};

}  // namespace weft::cli
