#pragma once

namespace weft::cli {

// What the program ends with; from 65 on the numbers are those of sysexits.h, and of
// weft::error_kind.
enum exit_code : int {
  ok = 0,
  failed = 1,  // a rule failed
  usage = 2,
  bad_data = 65,
  missing_input = 66,
  cannot_create = 73,
  io_error = 74,
  no_permission = 77,
  interrupted = 130,
};

}  // namespace weft::cli
