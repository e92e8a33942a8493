#include "batch/outcome.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

#include <weft/base/utf8.hpp>

namespace weft::batch {
namespace {

// U+FFFE and U+FFFF.
std::string without_noncharacters(std::string text) {
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = text.find(none, at)) != std::string::npos;) {
      text.replace(at, none.size(), "\xEF\xBF\xBD");
    }
  }
  return text;
}

}  // namespace

std::string shown_line(std::string_view text) {
  return without_noncharacters(base::printable(base::valid_utf8(text)));
}

std::string shown_lines(std::string_view text) {
  return without_noncharacters(base::printable_lines(base::valid_utf8(text)));
}

std::string decimal(double number) {
  char digits[64];
  const auto [end, problem] =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed, 6);
  return {digits, problem == std::errc{} ? end : digits};
}

std::string title_of(const rule_record& rule) {
  return rule.name.empty() ? rule.id : rule.id + ": " + rule.name;
}

std::string reason_of(const rule_record& rule) {
  if (!rule.message.empty()) return rule.message;
  return rule.status == rule_status::timed_out ? "timed out" : "failed";
}

std::string why_not_run(const rule_record& rule, run_ending ending) {
  if (rule.status == rule_status::skipped) {
    return "comes after " + rule.skipped_for + ", which failed";
  }
  return "never began: the run " + in_words(ending);
}

std::string in_words(run_ending ending) {
  switch (ending) {
    case run_ending::none:
      return "did not come to its end";
    case run_ending::complete:
      return "is complete";
    case run_ending::failed_fast:
      return "ended at the first failure";
    case run_ending::interrupted:
      return "was interrupted";
    case run_ending::out_of_time:
      return "ran out of time";
  }
  return "";
}

std::string utc_time(double seconds_since_1970) {
  constexpr double last = 253402300799;  // of the year 9999
  const double seconds = std::clamp(seconds_since_1970, 0.0, last);
  const auto whole = static_cast<std::time_t>(seconds);
  const auto millis = static_cast<unsigned>((seconds - std::floor(seconds)) * 1e3);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return std::string(text, length) + "." + std::to_string(1000 + millis % 1000).substr(1);
}

}  // namespace weft::batch
