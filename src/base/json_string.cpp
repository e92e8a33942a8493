#include "base/json_string.hpp"

#include <weft/base/utf8.hpp>

namespace weft::base {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7F) {
      (out += "\\u00") += {digits[byte >> 4U], digits[byte & 0xFU]};
    } else {
      out += c;
    }
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  // Most of it is ASCII without anything to escape, and logs have much of it.
  bool plain = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);  // char may have a sign or not
    plain &= byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
  }
  out += '"';
  if (plain) {
    out += text;
  } else {
    append_escaped(out, is_utf8(text) ? std::string(text) : valid_utf8(text));
  }
  out += '"';
}

}  // namespace weft::base
