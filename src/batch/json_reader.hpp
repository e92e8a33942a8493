#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::batch::detail {

// What is wrong with a text that should be JSON, and where.
class json_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Takes JSON apart as it is read: no tree, no copy of what is skipped. A profile file is read
// before and after every run, so this has to be several times faster than building a document.
//
// It takes what RFC 8259 allows, and besides the words NaN, Infinity and -Infinity, which Python
// writes: what reads the number shall say which one it was. Duplicate keys are for the caller to
// find. Nesting beyond `depth_max` is refused.
//
// Errors: json_error. Lifetime: the text outlives the reader.
class json_reader {
 public:
  static constexpr unsigned depth_max = 32;

  explicit json_reader(std::string_view text) : text_(text) {}

  // Calls member(key) for each member; that must read or skip the value. The key is good until the
  // next string is read.
  template <class Member>
  void object(Member member) {
    open('{', "an object");
    for (bool more = !close_at_once('}'); more; more = next('}')) {
      const std::string_view key = string();
      expect(':');
      member(key);
    }
  }
  template <class Element>
  void array(Element element) {
    open('[', "an array");
    for (bool more = !close_at_once(']'); more; more = next(']')) element();
  }

  // Good until the next string is read.
  [[nodiscard]] std::string_view string();
  // A number as it is written; see to_double and to_count.
  [[nodiscard]] std::string_view number();
  void skip();

  [[nodiscard]] bool at_object() { return peek() == '{'; }
  [[nodiscard]] bool at_array() { return peek() == '['; }
  [[nodiscard]] bool at_string() { return peek() == '"'; }
  [[nodiscard]] bool at_number();
  // Nothing but blanks may follow.
  void finish();

  // To read a value once more.
  struct place {
    std::size_t at = 0;
    unsigned depth = 0;
  };
  [[nodiscard]] place here() const noexcept { return {at_, depth_}; }
  void go_back(place earlier) noexcept {
    at_ = earlier.at;
    depth_ = earlier.depth;
  }

 private:
  char peek();  // the next character that is not blank; 0 at the end
  void open(char bracket, const char* what);
  bool close_at_once(char bracket);
  bool next(char bracket);  // whether there is one more
  void expect(char wanted);
  void word(std::string_view wanted);
  void digits();
  void unescape();
  unsigned hex4();
  [[noreturn]] void fail(const std::string& what) const;

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
  std::string unescaped_;
};

// Infinite if a double cannot hold it, be it too large or too small; NaN for the word.
[[nodiscard]] double to_double(std::string_view number) noexcept;
// Whole numbers that fit, and nothing else.
[[nodiscard]] std::optional<std::uint64_t> to_count(std::string_view number) noexcept;

}  // namespace weft::batch::detail
