#include <weft/base/utf8.hpp>

#include <array>

namespace weft::base {
namespace {

struct lead_byte {
  unsigned char first;
  unsigned char last;
  std::size_t length;
  unsigned char second_first;  // the narrower range of the second byte keeps out overlong forms,
  unsigned char second_last;   // surrogates and what is beyond U+10FFFF
};

// Table 3-7 of the Unicode standard.
constexpr std::array<lead_byte, 9> lead_bytes{{{0x00, 0x7f, 1, 0, 0},
                                               {0xc2, 0xdf, 2, 0x80, 0xbf},
                                               {0xe0, 0xe0, 3, 0xa0, 0xbf},
                                               {0xe1, 0xec, 3, 0x80, 0xbf},
                                               {0xed, 0xed, 3, 0x80, 0x9f},
                                               {0xee, 0xef, 3, 0x80, 0xbf},
                                               {0xf0, 0xf0, 4, 0x90, 0xbf},
                                               {0xf1, 0xf3, 4, 0x80, 0xbf},
                                               {0xf4, 0xf4, 4, 0x80, 0x8f}}};

unsigned char byte_at(std::string_view text, std::size_t index) noexcept {
  return static_cast<unsigned char>(text[index]);
}

bool is_character(std::string_view text, const lead_byte& lead) noexcept {
  if (text.size() < lead.length) return false;
  if (lead.length == 1) return true;
  if (byte_at(text, 1) < lead.second_first || byte_at(text, 1) > lead.second_last) return false;
  for (std::size_t i = 2; i < lead.length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80U) return false;
  }
  return true;
}

// C0, DEL, and C1: U+0080 to U+009F, which some terminals obey as well.
bool is_control(std::string_view character) noexcept {
  const unsigned char lead = byte_at(character, 0);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7f;
  return lead == 0xc2 && byte_at(character, 1) < 0xa0;
}

void append_escaped(std::string& shown, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    shown += "\\x";
    shown += digits[byte_at(bytes, i) >> 4U];
    shown += digits[byte_at(bytes, i) & 0xfU];
  }
}

}  // namespace

std::size_t utf8_character(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const unsigned char first = byte_at(text, 0);
  for (const lead_byte& lead : lead_bytes) {
    if (first >= lead.first && first <= lead.last)
      return is_character(text, lead) ? lead.length : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const std::string_view taken = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || is_control(taken)) {
      append_escaped(shown, taken);
    } else {
      shown += taken;
    }
    text.remove_prefix(taken.size());
  }
  return shown;
}

}  // namespace weft::base
