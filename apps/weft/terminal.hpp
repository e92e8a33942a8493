#pragma once

namespace weft::cli {

// How standard output should look.
struct terminal {
  unsigned columns = 80;
  unsigned rows = 24;
  bool colour = false;
  bool interactive = false;  // somebody sees it now: lines may be drawn over
  bool unicode = false;      // the locale is one of UTF-8
};

// COLUMNS, else the width of the terminal, else 80; LINES in the same way. Colour only on a
// terminal that is not dumb, and not when NO_COLOR is set.
[[nodiscard]] terminal standard_output();

// Whether the terminal of standard output is in use by another job of its shell, who must not be
// disturbed. May change at any time.
[[nodiscard]] bool is_in_background();

}  // namespace weft::cli
