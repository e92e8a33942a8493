#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/json_string.hpp"

namespace weft::batch {

// Writes one flat JSON object as a line. Exists because a run writes a line for every rule, and a
// rule may take less time than building a document would.
class json_line {
 public:
  explicit json_line(std::string& to) : out_(to) { out_ += '{'; }
  ~json_line() { out_ += "}\n"; }
  json_line(const json_line&) = delete;
  json_line& operator=(const json_line&) = delete;

  void text(std::string_view key, std::string_view value) {
    name(key);
    base::append_json_string(out_, value);
  }
  void texts(std::string_view key, std::span<const std::string> values) {
    name(key);
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      base::append_json_string(out_, values[i]);
    }
    out_ += ']';
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void number(std::string_view key, T value) {
    name(key);
    append_number(value);
  }
  // To the nanosecond, which is what the clock has.
  void seconds(std::string_view key, double value) {
    name(key);
    append_number(value, std::chars_format::fixed, 9);
  }
  void truth(std::string_view key, bool value) {
    name(key);
    out_ += value ? "true" : "false";
  }
  template <std::integral T>
  void numbers(std::string_view key, std::span<const T> values) {
    name(key);
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      append_number(values[i]);
    }
    out_ += ']';
  }
  // A list of objects; write(json_line&, value) gives each its members.
  template <class T, class Write>
  void objects(std::string_view key, std::span<const T> values, Write write) {
    name(key);
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      {
        json_line each(out_);
        write(each, values[i]);
      }
      out_.pop_back();  // the line goes on
    }
    out_ += ']';
  }

 private:
  void name(std::string_view key) {
    if (out_.back() != '{') out_ += ',';
    ((out_ += '"') += key) += "\":";
  }

  template <class... Value>
  void append_number(Value... value) {
    char digits[64];
    const auto [end, problem] = std::to_chars(digits, digits + sizeof digits, value...);
    out_.append(digits, problem == std::errc{} ? end : digits);
    if (problem != std::errc{}) out_ += '0';  // a time that no run can have
  }

  std::string& out_;
};

}  // namespace weft::batch
