#include <weft/base/utf8.hpp>

namespace weft::base {
namespace {

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// U+0000 to U+001F, U+007F, and U+0080 to U+009F, which some terminals obey as well.
bool is_control(std::string_view character) noexcept {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        (out += "\\x") += {digits[byte >> 4U], digits[byte & 0xFU]};
    }
  }
}

std::string escape(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const bool shown = length != 0 && (!is_control(character) ||
                                       kept.find(character[0]) != std::string_view::npos);
    if (shown) {
      out += character;
    } else {
      append_escaped(out, character);
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

// RFC 3629.
std::size_t utf8_character(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_high = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    out += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

bool has_control(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const std::size_t step = length == 0 ? 1 : length;
    if (length != 0 && is_control(text.substr(0, length))) return true;
    text.remove_prefix(step);
  }
  return false;
}

std::string printable(std::string_view text) { return escape(text, {}); }

std::string printable_lines(std::string_view text) { return escape(text, "\n\t"); }

}  // namespace weft::base
