#include <weft/base/units.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace weft {
namespace {

struct unit {
  std::string_view name;
  double factor;
};

constexpr std::array durations = {unit{"ns", 1},     unit{"us", 1e3}, unit{"ms", 1e6},
                                  unit{"s", 1e9},    unit{"m", 60e9}, unit{"h", 3600e9},
                                  unit{"d", 86400e9}};
constexpr double kibi = 1024;
constexpr std::array sizes = {
    unit{"", 1},
    unit{"B", 1},
    unit{"KB", 1e3},
    unit{"MB", 1e6},
    unit{"GB", 1e9},
    unit{"TB", 1e12},
    unit{"K", kibi},
    unit{"KiB", kibi},
    unit{"M", kibi* kibi},
    unit{"MiB", kibi* kibi},
    unit{"G", kibi* kibi* kibi},
    unit{"GiB", kibi* kibi* kibi},
    unit{"T", kibi* kibi* kibi* kibi},
    unit{"TiB", kibi* kibi* kibi* kibi},
};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

// Takes "1.5 GB" off the front: digits, and a unit of letters.
template <std::size_t N>
std::optional<double> take_amount(std::string_view& text, const std::array<unit, N>& units) {
  skip_blanks(text);
  // from_chars would take "inf", "nan" and a sign as well.
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  skip_blanks(text);
  std::size_t length = 0;
  while (length < text.size() && (text[length] < '0' || text[length] > '9') &&
         text[length] != ' ') {
    ++length;
  }
  const std::string_view name = text.substr(0, length);
  for (const unit& each : units) {
    if (each.name != name) continue;
    text.remove_prefix(length);
    return number * each.factor;
  }
  return std::nullopt;
}

std::string three_digits(double value, std::string_view name) {
  std::array<char, 32> text{};
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const int length = std::snprintf(text.data(), text.size(), "%.*f ", decimals, value);
  return std::string(text.data(), static_cast<std::size_t>(length)).append(name);
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  double sum = 0;
  do {
    const auto amount = take_amount(text, durations);
    if (!amount) return std::nullopt;
    sum += *amount;
    skip_blanks(text);
  } while (!text.empty());
  constexpr double most = 9.2e18;  // what 64 bits of nanoseconds hold
  if (!(sum <= most)) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(sum));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto amount = take_amount(text, sizes);
  skip_blanks(text);
  constexpr double most = 1.8e19;
  if (!amount || !text.empty() || !(*amount <= most)) return std::nullopt;
  return static_cast<std::uint64_t>(std::floor(*amount));
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0)) seconds = 0;
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6, "us");
  if (seconds < 0.9995) return three_digits(seconds * 1e3, "ms");
  if (seconds < 99.95) return three_digits(seconds, "s");
  const auto whole = std::llround(seconds);
  const auto pair = [](long long large, const char* a, long long small, const char* b) {
    return std::to_string(large) + " " + a + " " + std::to_string(small) + " " + b;
  };
  if (whole < 3600) return pair(whole / 60, "m", whole % 60, "s");
  return pair(whole / 3600, "h", whole % 3600 / 60, "m");
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array names = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= kibi; value >= 999.5 && unit + 1 < names.size(); ++unit) value /= kibi;
  return three_digits(value, names[unit]);
}

}  // namespace weft
