#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace weft::cli {
namespace {

constexpr unsigned narrowest = 12;  // labels and a little to see
constexpr unsigned widest = 1000;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// 0 when COLUMNS is not set to a number.
unsigned columns_asked_for() {
  const std::string_view text = environment("COLUMNS");
  unsigned columns = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, columns);
  return error == std::errc{} && stop == end ? columns : 0;
}

// 0 when standard output is not a terminal.
unsigned columns_of_terminal() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// As the C library decides, but without setting the locale of the program.
bool locale_is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

}  // namespace

terminal standard_output() {
  unsigned columns = columns_asked_for();
  if (columns == 0) columns = columns_of_terminal();
  if (columns == 0) columns = 80;
  const bool interactive = isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb";
  return {.columns = std::clamp(columns, narrowest, widest),
          .colour = interactive && environment("NO_COLOR").empty(),
          .interactive = interactive,
          .unicode = locale_is_utf8()};
}

}  // namespace weft::cli
