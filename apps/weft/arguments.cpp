#include "arguments.hpp"

#include <charconv>
#include <string>

#include <weft/base/units.hpp>

namespace weft::cli {

CLI::Validator whole_number(int low, int high) {
  const auto problem = [low, high](const std::string& text) -> std::string {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool is_plain = !text.starts_with('0') || text.size() == 1;
    if (error == std::errc{} && stop == end && is_plain && value >= low && value <= high) return {};
    return "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
           ", not " + text;
  };
  return {problem, ""};
}

CLI::Validator duration() {
  const auto problem = [](const std::string& text) -> std::string {
    const auto parsed = parse_duration(text);
    if (parsed && parsed->count() > 0) return {};
    return "expected a duration with its unit, such as 30s, 500ms or 1h30m, not " + text;
  };
  return {problem, ""};
}

CLI::Validator size_in_bytes() {
  const auto problem = [](const std::string& text) -> std::string {
    const auto parsed = parse_size(text);
    if (parsed && *parsed > 0) return {};
    return "expected a size such as 512MiB or 4G, not " + text;
  };
  return {problem, ""};
}

CLI::Validator decimal() {
  const auto problem = [](const std::string& text) -> std::string {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error == std::errc{} && stop == end && value > 0 && value < 1e9) return {};
    return "expected a number above 0, such as 1.5, not " + text;
  };
  return {problem, ""};
}

run_policy policy_named(std::string_view name) noexcept {
  for (const run_policy each :
       {run_policy::critical_path, run_policy::stealing, run_policy::largest_first}) {
    if (name_of(each) == name) return each;
  }
  return run_policy::fifo;
}

std::optional<batch::shard> parse_shard(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::size_t {
    std::size_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc{} && stop == end ? value : 0;
  };
  constexpr std::size_t count_max = 10'000;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const batch::shard part = {.index = number(text.substr(0, slash)),
                             .count = number(text.substr(slash + 1))};
  const bool fine = part.index >= 1 && part.index <= part.count && part.count <= count_max;
  return fine ? std::optional(part) : std::nullopt;
}

CLI::Validator shard() {
  const auto problem = [](const std::string& text) -> std::string {
    if (parse_shard(text)) return {};
    return "expected I/N such as 2/4, with I from 1 to N and N up to 10000, not " + text;
  };
  return {problem, ""};
}

}  // namespace weft::cli
