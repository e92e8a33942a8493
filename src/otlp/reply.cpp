#include "otlp/reply.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <weft/base/utf8.hpp>

#include "otlp/answer_fields.hpp"

namespace weft::otlp {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t quoted_max = 300;

// For people, in one line.
std::string quoted(const std::string& text) {
  std::string_view shown = std::string_view(text).substr(0, quoted_max);
  // Not in the middle of a character.
  while (!shown.empty() && shown.size() < text.size() && (text[shown.size()] & 0xC0) == 0x80) {
    shown.remove_suffix(1);
  }
  return "\"" + base::printable(shown) + (shown.size() < text.size() ? "...\"" : "\"");
}

// The answer to a request that was taken.
judgement read_success(const reply& answer, std::string_view rejected_name) {
  judgement made{.what = verdict::taken, .rejected = 0, .pause = {}, .problem = {}};
  if (answer.body.find_first_not_of(" \t\r\n") == std::string::npos) return made;
  const auto fields = read_answer(answer.body, rejected_name);
  if (!fields) {
    made.problem = "answered with success, but not as OTLP does: " + quoted(answer.body) +
                   "; is it a collector of OpenTelemetry that listens there?";
    return made;
  }
  made.rejected = fields->rejected;
  const std::string& why = fields->error_message;
  if (made.rejected > 0) {
    made.problem = "did not take " + std::to_string(made.rejected) + " of them" +
                   (why.empty() ? "" : ": " + quoted(why));
  } else if (!why.empty()) {
    made.problem = "took it and warns: " + quoted(why);
  }
  return made;
}

std::string advice_for(int status) {
  switch (status) {
    case 101:
      return "; it wants to speak something else than HTTP; is it a collector of OpenTelemetry "
             "that listens there?";
    case 401:
    case 403:
      return "; give what it asks for in otlp_options::headers";
    case 404:
    case 405:
      return "; is it a collector of OpenTelemetry that listens there for OTLP over HTTP? Look at "
             "the endpoint, with its path";
    case 413:
      return "; lower otlp_options::batch_size, or raise its limit";
    case 415:
      return "; it takes no JSON: switch its receiver for OTLP over HTTP on";
    default:
      break;
  }
  if (status >= 300 && status < 400) {
    return "; Weft follows no redirections: give the address that it points to";
  }
  return {};
}

std::string said(const reply& answer) {
  const std::string why = read_answer(answer.body, {}).value_or(answer_fields()).message;
  std::string text = "answered " + std::to_string(answer.status);
  if (!why.empty()) {
    text += ": " + quoted(why);
  } else if (!answer.body.empty()) {
    text += ": " + quoted(answer.body);
  }
  return text + advice_for(answer.status);
}

constexpr milliseconds retry_after_max = std::chrono::hours(1);

// Of "Sun, 06 Nov 1994 08:49:37 GMT", the one form of a date that senders may write.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = -1;
    const char* const begin = text.data() + at;
    const auto end = std::from_chars(begin, begin + length, value);
    return end.ptr == begin + length ? value : -1;
  };
  if (text.size() != 29 || text[3] != ',' || text[19] != ':' || text[22] != ':' ||
      !text.ends_with(" GMT")) {
    return std::nullopt;
  }
  const auto* const month = std::ranges::find(months, text.substr(8, 3));
  const std::array<int, 5> parts = {number(5, 2), number(12, 4), number(17, 2), number(20, 2),
                                    number(23, 2)};
  if (month == months.end() || std::ranges::any_of(parts, [](int p) { return p < 0; })) {
    return std::nullopt;
  }
  const std::chrono::year_month_day day(
      std::chrono::year(parts[1]),
      std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(parts[0])));
  if (!day.ok() || parts[2] > 23 || parts[3] > 59 || parts[4] > 60) return std::nullopt;
  return std::chrono::sys_days(day) + std::chrono::hours(parts[2]) +
         std::chrono::minutes(parts[3]) + std::chrono::seconds(parts[4]);
}

}  // namespace

judgement judge(const reply& answer, std::string_view rejected_name, std::chrono::sys_seconds now) {
  if (answer.status >= 200 && answer.status < 300) return read_success(answer, rejected_name);
  judgement made{.what = verdict::refused, .rejected = 0, .pause = {}, .problem = said(answer)};
  constexpr std::array<int, 4> again = {429, 502, 503, 504};
  if (std::ranges::find(again, answer.status) != again.end()) {
    made.what = verdict::later;
    made.pause = parse_retry_after(answer.retry_after, now);
  }
  return made;
}

std::optional<milliseconds> parse_retry_after(std::string_view header,
                                              std::chrono::sys_seconds now) {
  std::uint32_t seconds = 0;
  const char* const end = header.data() + header.size();
  const auto read = std::from_chars(header.data(), end, seconds);
  if (!header.empty() && read.ptr == end) {
    if (read.ec != std::errc()) return retry_after_max;
    return std::min<milliseconds>(std::chrono::seconds(seconds), retry_after_max);
  }
  const auto date = parse_date(header);
  if (!date) return std::nullopt;
  return std::clamp<milliseconds>(*date - now, milliseconds(0), retry_after_max);
}

milliseconds backoff(unsigned failures, milliseconds first, milliseconds longest,
                     double random) noexcept {
  const unsigned doublings = std::min(failures, 30U) - std::min(failures, 1U);
  const double wanted = static_cast<double>(first.count()) * static_cast<double>(1U << doublings);
  const double pause = std::min(wanted, static_cast<double>(longest.count()));
  return milliseconds(static_cast<std::int64_t>(pause * (1 - random / 2)));
}

}  // namespace weft::otlp
