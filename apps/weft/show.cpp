#include "show.hpp"

#include <algorithm>

namespace weft::cli {
namespace {

// The character that a UTF-8 text begins with, and its bytes; a wrong byte counts as a character.
struct character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes == 1 || bytes > text.size()) return {lead, 1};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {lead, 1};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  return {code, bytes};
}

// How many columns a terminal gives a character: marks none; those of East Asia, and emoji, two.
std::size_t columns_of(char32_t code) {
  struct range {
    char32_t first, last;
  };
  constexpr range marks[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  constexpr range wide[] = {
      {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
      {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
      {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
      {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
      {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
      {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
      {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
      {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
      {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
      {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
      {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18D08},
      {0x1AFF0, 0x1B2FB}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E},
      {0x1F191, 0x1F19A}, {0x1F200, 0x1F202}, {0x1F210, 0x1F23B}, {0x1F240, 0x1F248},
      {0x1F250, 0x1F251}, {0x1F260, 0x1F265}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
      {0x1F7E0, 0x1F7F0}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};
  const auto has = [code](const range& r) { return r.first <= code && code <= r.last; };
  if (std::ranges::any_of(marks, has)) return 0;
  return std::ranges::any_of(wide, has) ? 2 : 1;
}

}  // namespace

std::string counted(std::size_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const character next = first_of(text);
    width += columns_of(next.code);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t width) {
  std::string made;
  std::size_t columns = 0;
  while (!text.empty()) {
    const character next = first_of(text);
    if (columns + columns_of(next.code) > width) break;
    columns += columns_of(next.code);
    made += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return made.append(width - columns, ' ');
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width || width < 4) return fitted(text, width);
  return fitted(text, width - 2) + "..";
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
