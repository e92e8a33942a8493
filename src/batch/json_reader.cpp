#include "batch/json_reader.hpp"

#include <charconv>
#include <limits>
#include <system_error>

#include <weft/base/utf8.hpp>

namespace weft::batch::detail {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_surrogate(unsigned unit) noexcept { return unit >= 0xd800 && unit <= 0xdfff; }

void append_utf8(std::string& text, unsigned point) {
  const auto append = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return append(point);
  if (point < 0x800) {
    append(0xc0U | point >> 6U);
  } else {
    if (point < 0x10000) {
      append(0xe0U | point >> 12U);
    } else {
      append(0xf0U | point >> 18U);
      append(0x80U | (point >> 12U & 0x3fU));
    }
    append(0x80U | (point >> 6U & 0x3fU));
  }
  append(0x80U | (point & 0x3fU));
}

}  // namespace

std::string_view json_reader::string() {
  if (peek() != '"') fail("expected a string");
  const std::size_t begin = ++at_;
  bool escaped = false;
  while (true) {
    if (at_ == text_.size()) fail("a string without an end");
    const char c = text_[at_];
    if (c == '"') break;
    if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
    if (c == '\\') {
      if (!escaped) unescaped_.assign(text_, begin, at_ - begin);
      escaped = true;
      unescape();
      continue;
    }
    const std::size_t length =
        static_cast<unsigned char>(c) < 0x80 ? 1 : base::utf8_character(text_.substr(at_, 4));
    if (length == 0) fail("bytes that are not UTF-8");
    if (escaped) unescaped_.append(text_, at_, length);
    at_ += length;
  }
  ++at_;
  return escaped ? std::string_view(unescaped_) : text_.substr(begin, at_ - 1 - begin);
}

void json_reader::unescape() {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  ++at_;
  const char letter = at_ < text_.size() ? text_[at_++] : '\0';
  if (const std::size_t known = letters.find(letter); known != std::string_view::npos) {
    unescaped_ += meanings[known];
    return;
  }
  if (letter != 'u') fail("an unknown escape in a string");
  unsigned point = hex4();
  if (is_surrogate(point)) {
    const bool paired = point < 0xdc00 && text_.substr(at_, 2) == "\\u";
    if (!paired) fail("half of a surrogate pair");
    at_ += 2;
    const unsigned low = hex4();
    if (low < 0xdc00 || low > 0xdfff) fail("half of a surrogate pair");
    point = 0x10000 + ((point - 0xd800) << 10U) + (low - 0xdc00);
  }
  append_utf8(unescaped_, point);
}

unsigned json_reader::hex4() {
  const std::string_view four = text_.substr(at_, 4);
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(four.data(), four.data() + four.size(), value, 16);
  if (four.size() < 4 || error != std::errc{} || stop != four.data() + 4) {
    fail("an escape without four hexadecimal digits");
  }
  at_ += 4;
  return value;
}

std::string_view json_reader::number() {
  if (!at_number()) fail("expected a number");
  const std::size_t begin = at_;
  if (text_[at_] == '-') ++at_;
  const char first = at_ < text_.size() ? text_[at_] : '\0';
  if (first == 'N') {
    word("NaN");
  } else if (first == 'I') {
    word("Infinity");
  } else {
    if (first == '0') {
      ++at_;
    } else {
      digits();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits();
    }
  }
  return text_.substr(begin, at_ - begin);
}

void json_reader::digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  if (at_ == begin) fail("a number without digits");
}

void json_reader::skip() {
  if (at_object()) return object([this](std::string_view) { skip(); });
  if (at_array()) return array([this] { skip(); });
  if (at_string()) return static_cast<void>(string());
  if (at_number()) return static_cast<void>(number());
  switch (peek()) {
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      fail("expected a value");
  }
}

bool json_reader::at_number() {
  const char c = peek();
  return is_digit(c) || c == '-' || c == 'N' || c == 'I';
}

void json_reader::finish() {
  static_cast<void>(peek());
  if (at_ != text_.size()) fail("something after the end");
}

char json_reader::peek() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
    ++at_;
  }
  return '\0';
}

void json_reader::open(char bracket, const char* what) {
  if (peek() != bracket) fail(std::string("expected ") + what);
  if (++depth_ > depth_max) fail("nested deeper than " + std::to_string(depth_max));
  ++at_;
}

bool json_reader::close_at_once(char bracket) {
  if (peek() != bracket) return false;
  ++at_;
  --depth_;
  return true;
}

bool json_reader::next(char bracket) {
  if (close_at_once(bracket)) return false;
  expect(',');
  return true;
}

void json_reader::expect(char wanted) {
  if (peek() != wanted) fail(std::string("expected '") + wanted + "'");
  ++at_;
}

void json_reader::word(std::string_view wanted) {
  if (text_.substr(at_, wanted.size()) != wanted) fail("expected a value");
  at_ += wanted.size();
}

void json_reader::fail(const std::string& what) const {
  std::size_t line = 1;
  std::size_t column = 1;
  for (const char c : text_.substr(0, at_)) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n' ? 1 : 0;
  }
  throw json_error("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                   (at_ == text_.size() && line == 1 && column == 1 ? "it is empty" : what));
}

double to_double(std::string_view number) noexcept {
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  static_cast<void>(stop);
  return error == std::errc{} ? value : std::numeric_limits<double>::infinity();
}

std::optional<std::uint64_t> to_count(std::string_view number) noexcept {
  std::uint64_t value = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace weft::batch::detail
