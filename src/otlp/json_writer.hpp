#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "base/json_string.hpp"

namespace weft::otlp {

// Appends JSON as Protobuf's mapping has it: numbers of 64 bits are strings, and so are those that
// are not finite. Commas come by themselves.
class json_writer {
 public:
  explicit json_writer(std::string& out) : out_(out) {}

  // `inside` writes the members. Without a key it is the document, or an element of an array.
  template <std::invocable Inside>
  void object(Inside&& inside) {
    separate();
    enclose('{', inside, '}');
  }
  template <std::invocable Inside>
  void object(std::string_view key, Inside&& inside) {
    name(key);
    enclose('{', inside, '}');
  }
  template <std::invocable Inside>
  void array(std::string_view key, Inside&& inside) {
    name(key);
    enclose('[', inside, ']');
  }

  void text(std::string_view key, std::string_view value) {
    name(key);
    base::append_json_string(out_, value);
  }
  void boolean(std::string_view key, bool value) {
    name(key);
    out_ += value ? "true" : "false";
  }
  // An enumeration, or a number of 32 bits.
  void small(std::string_view key, int value) {
    name(key);
    digits(value);
  }
  void number(std::string_view key, double value) {
    name(key);
    real(value);
  }
  template <std::integral Integer>
  void large(std::string_view key, Integer value) {
    name(key);
    quoted(value);
  }

  // Elements of an array.
  void element(double value) {
    separate();
    real(value);
  }
  template <std::integral Integer>
  void large_element(Integer value) {
    separate();
    quoted(value);
  }

 private:
  template <class Inside>
  void enclose(char open, Inside& inside, char close) {
    out_ += open;
    inside();
    out_ += close;
  }

  void separate() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[') out_ += ',';
  }

  void name(std::string_view key) {
    separate();
    ((out_ += '"') += key) += "\":";
  }

  template <class Number>
  void digits(Number value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value);
    out_.append(text, end.ptr);
  }

  template <class Number>
  void quoted(Number value) {
    out_ += '"';
    digits(value);
    out_ += '"';
  }

  void real(double value) {
    if (std::isfinite(value)) return digits(value);
    if (std::isnan(value)) {
      out_ += "\"NaN\"";
    } else {
      out_ += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    }
  }

  std::string& out_;
};

}  // namespace weft::otlp
