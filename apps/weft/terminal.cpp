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

// 0 when the variable is not set to a number.
unsigned number_in(const char* name) {
  const std::string_view text = environment(name);
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? number : 0;
}

// The first that is not 0.
unsigned first_of(unsigned asked_for, unsigned measured, unsigned otherwise) {
  if (asked_for != 0) return asked_for;
  return measured != 0 ? measured : otherwise;
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
  winsize size{};  // stays 0 when standard output is not a terminal
  static_cast<void>(ioctl(STDOUT_FILENO, TIOCGWINSZ, &size));
  const unsigned columns = first_of(number_in("COLUMNS"), size.ws_col, 80);
  const bool interactive = isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb";
  return {.columns = std::clamp(columns, narrowest, widest),
          .rows = first_of(number_in("LINES"), size.ws_row, 24),
          .colour = interactive && environment("NO_COLOR").empty(),
          .interactive = interactive,
          .unicode = locale_is_utf8()};
}

bool is_in_background() {
  const pid_t foreground = tcgetpgrp(STDOUT_FILENO);
  return foreground > 0 && foreground != getpgrp();  // -1 when there is no shell with jobs
}

}  // namespace weft::cli
