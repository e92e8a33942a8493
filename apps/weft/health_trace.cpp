#include "health_trace.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

namespace weft::cli {
namespace {

constexpr std::string_view header = "time_s,score,outcomes";
constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr double longest_time_s = 1e9;  // about 31 years

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// The text as a message can show it: short, and without what would upset a terminal.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      std::array<char, 5> escaped{};
      static_cast<void>(std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte));
      shown += escaped.data();
    } else {
      shown += c;
    }
  }
  return shown + (text.size() > most ? "…\"" : "\"");
}

std::string seconds_text(adapt::time_point at) {
  std::array<char, 32> text{};
  const double seconds = std::chrono::duration<double>(at.time_since_epoch()).count();
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.12g", seconds));
  return text.data();
}

}  // namespace

health_trace::health_trace(std::istream& in, std::string name)
    : in_(in), name_(std::move(name)), buffer_(longest_line) {}

void health_trace::read_header() {
  const auto line = next_line();
  if (!line) {
    line_ = 1;
    fail("the trace is empty, expected the header " + std::string(header));
  }
  if (split(*line) != split(header)) {
    fail("the header is " + quoted(*line) + ", expected " + std::string(header));
  }
}

void health_trace::read_row() {
  const auto line = next_line();
  if (!line) {
    row_.reset();
    return;
  }
  const auto fields = split(*line);
  if (fields.size() != 3) {
    fail(std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
         ", expected 3: " + std::string(header));
  }
  row_ = row{.at = parse_time(fields[0]),
             .reading = {.score = parse_score(fields[1]), .outcomes = parse_outcomes(fields[2])}};
}

std::optional<std::string_view> health_trace::next_line() {
  while (true) {
    in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto count = static_cast<std::size_t>(in_.gcount());
    ++line_;
    if (in_.bad()) throw unreadable_trace(here() + ": reading failed");
    if (in_.fail()) {
      if (in_.eof()) return std::nullopt;
      fail("the line is longer than " + std::to_string(longest_line - 2) +
           " bytes, expected one row");
    }
    // The count includes the newline, which the last line may lack.
    std::string_view line(buffer_.data(), in_.eof() ? count : count - 1);
    if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (!trim(line).empty()) return line;
  }
}

adapt::time_point health_trace::parse_time(std::string_view text) const {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (error != std::errc{} || stop != end || !(seconds >= 0 && seconds <= longest_time_s)) {
    fail("time_s is " + quoted(text) + ", expected seconds from 0 to 1000000000, such as 12.5");
  }
  const adapt::time_point at{std::chrono::nanoseconds(std::llround(seconds * 1e9))};
  if (row_ && at < row_->at) {
    fail("time_s goes back from " + seconds_text(row_->at) + " to " + seconds_text(at) +
         ", expected at least the time of the row before");
  }
  return at;
}

std::optional<unsigned> health_trace::parse_score(std::string_view text) const {
  if (text == "timeout") return std::nullopt;
  unsigned score = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, score);
  if (error != std::errc{} || stop != end || score > 100) {
    fail("score is " + quoted(text) + ", expected a whole number from 0 to 100, or timeout");
  }
  return score;
}

std::vector<adapt::outcome> health_trace::parse_outcomes(std::string_view text) const {
  std::vector<adapt::outcome> outcomes;
  outcomes.reserve(text.size());
  for (const char c : text) {
    if (c != '+' && c != '-') {
      fail("outcomes is " + quoted(text) +
           ", expected one + or - for each attempt, oldest first, or nothing");
    }
    outcomes.push_back(c == '+' ? adapt::outcome::success : adapt::outcome::failure);
  }
  return outcomes;
}

std::string health_trace::here() const { return name_ + ":" + std::to_string(line_); }

void health_trace::fail(const std::string& what) const { throw bad_trace(here() + ": " + what); }

}  // namespace weft::cli
