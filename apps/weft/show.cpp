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

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string made;
  std::size_t used = 0;
  bool line_is_empty = true;
  while (!text.empty()) {
    // Blanks before a word stay with it, unless a line begins there.
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', blanks), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    const std::size_t width = blanks + width_of(word);
    if (!line_is_empty && used + width > columns) {
      made += "\n" + std::string(indent, ' ');
      made += word;
      used = indent + width_of(word);
    } else {
      made += text.substr(0, end);
      used += width;
    }
    line_is_empty = false;
    text.remove_prefix(end);
  }
  return made;
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
