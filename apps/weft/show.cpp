#include "show.hpp"

#include <algorithm>

namespace weft::cli {
namespace {

// Of UTF-8: every character has one byte that begins it.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

}  // namespace

std::string counted(std::size_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string fitted(std::string_view text, std::size_t width) {
  std::string made;
  std::size_t columns = 0;
  for (const char c : text) {
    columns += begins_character(c) ? 1 : 0;
    if (columns > width) return made;
    made += c;
  }
  return made.append(width - columns, ' ');
}

std::string indented(std::string_view text, std::string_view before) {
  std::string made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    (((made += before) += line)) += '\n';
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
  return made;
}

}  // namespace weft::cli
