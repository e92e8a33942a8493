#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// How the files that a kernel writes are read: small, line by line, and never trusted.

namespace weft::base {

/// Never empty: text without the separator is one part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// What stands between blanks; nothing but words, however many blanks there are.
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);

[[nodiscard]] std::string_view first_line(std::string_view text);

/// The whole text must be one number: "100000 " or "1e5" is not what the kernel writes.
template <class Integer>
[[nodiscard]] std::optional<Integer> parse_whole(std::string_view text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// A finite number such as "12.40", and nothing else.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

/// Empty when the file cannot be read, and then `why`, if given, tells the reason. Files larger
/// than any kernel writes are cut.
[[nodiscard]] std::string read_text(const std::string& path, std::error_code* why = nullptr);

/// The first line of a file; empty when it cannot be read.
[[nodiscard]] std::string read_line(const std::string& path);

/// A root directory to which "/proc" can be appended: "/" becomes "".
[[nodiscard]] std::string without_trailing_slashes(std::string path);

}  // namespace weft::base
