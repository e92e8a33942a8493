#include "adapt/sensor/source.hpp"

#include <system_error>

#include "base/text.hpp"

namespace weft::adapt::detail {

sensed<std::string> read_source(const std::string& path) {
  std::error_code error;
  std::string text = base::read_text(path, &error);
  if (error) return unavailable{"cannot read " + path + ": " + error.message()};
  return text;
}

sensed<std::uint64_t> read_number(const std::string& path) {
  const auto text = read_source(path);
  if (!text) return unavailable{text.reason()};
  const auto number = base::parse_whole<std::uint64_t>(base::first_line(*text));
  if (!number) return makes_no_sense(path);
  return *number;
}

std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key) {
  for (const std::string_view line : base::split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const auto found = base::words(line);
    if (found.size() >= 2 && found[0] == key) return base::parse_whole<std::uint64_t>(found[1]);
  }
  return std::nullopt;
}

unavailable makes_no_sense(const std::string& path) { return {path + " makes no sense"}; }

unavailable needs_a_second_reading() { return {"needs a second reading"}; }

}  // namespace weft::adapt::detail
