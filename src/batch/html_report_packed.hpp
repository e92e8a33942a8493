#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::batch {

// A column of numbers as one string: base64 VLQ as in source maps, without the sign. Half as long
// as decimals, which is what keeps the report of ten thousand rules below a megabyte.
class packed_numbers {
 public:
  void add(std::uint64_t number) {
    if (text_.empty()) first_ = number;
    all_the_same_ = all_the_same_ && number == first_;
    do {
      const std::uint64_t digit = number & 31U;
      number >>= 5U;
      text_ += alphabet[digit | (number > 0 ? 32U : 0U)];
    } while (number > 0);
  }
  // As microseconds. What no clock can have said, below zero or beyond what JavaScript can count,
  // becomes the nearest that it could.
  void add_seconds(double seconds) {
    const double micros = std::round(seconds * 1e6);
    add(micros > 0 ? static_cast<std::uint64_t>(std::min(micros, 0x1p52)) : 0);
  }
  // A share or a ratio, to a thousandth.
  void add_ratio(double ratio) { add_seconds(ratio / 1000); }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // For a reader who knows how many numbers there are: one is enough if all are the same.
  [[nodiscard]] std::string squeezed() const {
    if (!all_the_same_ || text_.empty()) return text_;
    packed_numbers one;
    one.add(first_);
    return one.text_;
  }

  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

 private:
  std::string text_;
  std::uint64_t first_ = 0;
  bool all_the_same_ = true;
};

}  // namespace weft::batch
