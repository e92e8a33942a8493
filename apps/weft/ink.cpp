#include "ink.hpp"

namespace weft::cli {
namespace {

std::string_view code_of(ink colour) {
  switch (colour) {
    case ink::red:
      return "\x1b[31m";
    case ink::green:
      return "\x1b[32m";
    case ink::yellow:
      return "\x1b[33m";
    case ink::blue:
      return "\x1b[34m";
    case ink::magenta:
      return "\x1b[35m";
    case ink::cyan:
      return "\x1b[36m";
    case ink::grey:
      return "\x1b[90m";
    case ink::none:
      break;
  }
  return "";
}

}  // namespace

std::string painted(std::string_view text, ink colour, const terminal& look) {
  if (!look.colour || colour == ink::none || text.empty()) return std::string(text);
  return std::string(code_of(colour)).append(text) + "\x1b[0m";
}

}  // namespace weft::cli
