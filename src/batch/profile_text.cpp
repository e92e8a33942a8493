#include "batch/profile_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <weft/base/utf8.hpp>

#include "batch/profile_json.hpp"

namespace weft::batch::detail {
namespace {

void append(std::string& out, std::uint64_t value) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

// A double that is a whole number of units, such as nanoseconds, as decimal; false if it is none.
template <std::uint64_t UnitsPerOne, int DigitsAfter>
bool append_decimal(std::string& out, double value) {
  constexpr double exact_up_to = 9e15;
  constexpr auto scale = static_cast<double>(UnitsPerOne);
  const double scaled = std::nearbyint(value * scale);
  if (!(scaled >= 0 && scaled <= exact_up_to) || scaled / scale != value) return false;
  const auto units = static_cast<std::uint64_t>(scaled);
  append(out, units / UnitsPerOne);
  std::uint64_t rest = units % UnitsPerOne;
  int digits_after = DigitsAfter;
  if (rest == 0) return true;
  while (rest % 10 == 0) {
    rest /= 10;
    --digits_after;
  }
  const std::size_t begin = out.size();
  out.append(static_cast<std::size_t>(digits_after) + 1, '0');
  out[begin] = '.';
  for (std::size_t at = out.size() - 1; rest > 0; --at, rest /= 10) {
    out[at] = static_cast<char>('0' + rest % 10);
  }
  return true;
}

// A text that is read as the same number again. Times are mostly whole nanoseconds, and moments
// whole milliseconds, for which there is a quicker way than the shortest text of any double.
void append(std::string& out, double value) {
  const bool is_moment = value > 1e6;
  if (is_moment ? append_decimal<1'000, 3>(out, value)
                : append_decimal<1'000'000'000, 9>(out, value)) {
    return;
  }
  std::array<char, 32> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void append(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += hex[byte >> 4U];
      out += hex[byte & 0xfU];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append(std::string& out, const std::vector<sample>& samples) {
  out += '[';
  for (const sample& one : samples) {
    if (&one != samples.data()) out += ',';
    out += '[';
    append(out, one.when);
    out += ',';
    append(out, one.seconds);
    if (one.peak_rss > 0) {
      out += ',';
      append(out, one.peak_rss);
    }
    out += ']';
  }
  out += ']';
}

template <class Value>
void append_member(std::string& out, std::string_view key, const Value& value) {
  out += out.back() == '{' ? "\"" : ",\"";
  out += key;
  out += "\":";
  append(out, value);
}

void append_entry(std::string& out, const profile& values) {
  out += '{';
  append_member(out, "avg_time", values.mean);
  append_member(out, "failures", values.failures);
  append_member(out, "last_updated", values.last_updated());
  append_member(out, "m2", values.m2);
  append_member(out, "max", values.max);
  append_member(out, "max_time", values.max);
  append_member(out, "mean", values.mean);
  append_member(out, "min", values.min);
  append_member(out, "min_time", values.min);
  append_member(out, "n", values.n);
  append_member(out, "p50", values.p50());
  append_member(out, "p90", values.p90());
  append_member(out, "peak_rss", values.peak_rss());
  append_member(out, "recent", values.recent);
  append_member(out, "sample_count", values.n);
  append_member(out, "std_dev", values.std_dev());
  append_member(out, "timeouts", values.timeouts);
  out += '}';
}

profile_text to_json_of_all(const profiles& values) {
  profile_text written;
  std::string& out = written.text;
  out.reserve(values.size() * 640);
  out += "{\n\"format\": \"";
  out += profile_format;
  out += "\",\n\"version\": ";
  append(out, profile_version);
  out += ",\n\"profiles\": {";
  const std::string* previous = nullptr;
  for (const auto& [key, entry] : values.entries()) {
    if (!base::is_utf8(key.rule) || !base::is_utf8(key.input_class)) {
      written.left_out.push_back(base::printable(key.rule));
      continue;
    }
    if (previous != nullptr && *previous == key.rule) {
      out += ", ";
    } else {
      out += previous == nullptr ? "\n" : "},\n";
      append(out, key.rule);
      out += ": {";
    }
    append(out, key.input_class);
    out += ": ";
    append_entry(out, entry);
    previous = &key.rule;
  }
  out += previous == nullptr ? "}\n}\n" : "}\n}\n}\n";
  return written;
}

}  // namespace

profile_text to_json(const profiles& values, std::size_t most) {
  profile_text written = to_json_of_all(values);
  if (written.text.size() <= most) return written;
  std::vector<profiles::map::const_iterator> latest_first;
  latest_first.reserve(values.size());
  for (auto entry = values.entries().begin(); entry != values.entries().end(); ++entry) {
    latest_first.push_back(entry);
  }
  std::stable_sort(latest_first.begin(), latest_first.end(), [](const auto& a, const auto& b) {
    return a->second.last_updated() > b->second.last_updated();
  });
  while (written.text.size() > most && !latest_first.empty()) {
    latest_first.resize(latest_first.size() * 9 / 10);
    profiles kept;
    for (const auto& entry : latest_first) kept.at(entry->first) = entry->second;
    written = to_json_of_all(kept);
  }
  written.dropped = values.size() - latest_first.size();
  return written;
}

}  // namespace weft::batch::detail
