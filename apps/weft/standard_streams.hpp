#pragma once

#include <string>

#include <weft/base/result.hpp>

namespace weft::cli {

// Opens those of the descriptors 0, 1 and 2 that the program was started without, in a way that
// reading or writing fails. Left closed, the next file would get the number, and output would be
// written into it. Must come before any file is opened.
void occupy_standard_descriptors() noexcept;

// Everything that standard input has. Errors: missing_input.
[[nodiscard]] result<std::string> read_standard_input();

// Writes out what is buffered. True if all of it was taken, or if whoever was to read it has gone:
// `weft run PLAN | head` is no failure.
[[nodiscard]] bool finish_standard_output();

}  // namespace weft::cli
