#include "base/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

namespace weft::base {
namespace {

// mountinfo of a host with thousands of containers takes a few megabytes.
constexpr std::size_t largest_file = std::size_t{16} << 20;

// Appends what can be read, and returns the errno that ended it, or 0.
int append_all(int descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  while (text.size() < largest_file) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return 0;
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  std::vector<std::string_view> found;
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = text.find_first_of(blanks, begin);
    found.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return found;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string read_text(const std::string& path, std::error_code* why) {
  std::string text;
  int error = 0;
  // Not blocking: a pipe where a file should be must not stop the caller.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    error = errno;
  } else {
    error = append_all(descriptor, text);
    ::close(descriptor);
  }
  if (error != 0) text.clear();
  if (why != nullptr) *why = std::error_code(error, std::generic_category());
  return text;
}

std::string read_line(const std::string& path) { return std::string(first_line(read_text(path))); }

std::string without_trailing_slashes(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace weft::base
