#include "batch/profile_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include <weft/base/utf8.hpp>

#include "batch/json_reader.hpp"

namespace weft::batch::detail {
namespace {

constexpr std::uint64_t largest_count = 1'000'000'000'000'000;
constexpr double forgiven_s = 3600;

// --- One entry ---------------------------------------------------------------------------------

// What is wrong with an entry, as "field is this, expected that".
class bad_entry : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(std::string_view field, const std::string& found,
                         const std::string& expected) {
  throw bad_entry(std::string(field) + " is " + found + ", expected " + expected);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t most = 40;
  return base::printable(text.substr(0, most)) + (text.size() > most ? "…" : "");
}

std::string_view read_number(json_reader& json, std::string_view field) {
  if (json.at_number()) return json.number();
  refuse(field, "no number", "a number");
}

double read_limited(json_reader& json, std::string_view field, double most) {
  const std::string_view text = read_number(json, field);
  const double value = to_double(text);
  if (value >= 0 && value <= most) return value + 0.0;  // -0 becomes 0
  std::array<char, 32> limit{};
  const auto end = std::to_chars(limit.data(), limit.data() + limit.size(), most).ptr;
  refuse(field, shortened(text), "a number from 0 to " + std::string(limit.data(), end));
}

double read_seconds(json_reader& json, std::string_view field) {
  return read_limited(json, field, profile::longest_s);
}

std::uint64_t read_count(json_reader& json, std::string_view field) {
  const std::string_view text = read_number(json, field);
  const auto value = to_count(text);
  if (value && *value <= largest_count) return *value;
  refuse(field, shortened(text), "a whole number from 0 to " + std::to_string(largest_count));
}

sample read_sample(json_reader& json, double now) {
  sample read;
  unsigned position = 0;
  json.array([&] {
    switch (position++) {
      case 0:
        read.when = read_limited(json, "recent", 1e300);
        break;
      case 1:
        read.seconds = read_seconds(json, "recent");
        break;
      case 2:
        read.peak_rss = to_count(read_number(json, "recent")).value_or(0);
        break;
      default:
        json.skip();
    }
  });
  if (position < 2) refuse("recent", "without times", "[when, seconds] for each sample");
  if (read.when > now + forgiven_s) read.when = 0;
  return read;
}

std::vector<sample> read_recent(json_reader& json, double now) {
  std::vector<sample> read;
  if (!json.at_array()) refuse("recent", "no array", "[[when, seconds], ...]");
  read.reserve(profile::recent_max);
  json.array([&] {
    if (read.size() == profile::recent_max) {
      refuse("recent", "longer", std::to_string(profile::recent_max) + " samples at most");
    }
    if (!json.at_array()) refuse("recent", "no array of arrays", "[[when, seconds], ...]");
    read.push_back(read_sample(json, now));
  });
  std::sort(read.begin(), read.end());
  return read;
}

// The fields of an entry: ours, then those that only a file of the validator has to have.
enum class field : std::uint8_t {
  n,
  mean,
  m2,
  min,
  max,
  failures,
  timeouts,
  recent,
  avg_time,
  std_dev,
  sample_count,
  min_time,
  max_time,
  last_updated,
};
constexpr std::array<std::string_view, 14> field_names{
    "n",      "mean",     "m2",      "min",          "max",      "failures", "timeouts",
    "recent", "avg_time", "std_dev", "sample_count", "min_time", "max_time", "last_updated"};

std::string_view name_of(field which) { return field_names[static_cast<std::size_t>(which)]; }

class seen_fields {
 public:
  void add(field which) {
    if (has(which)) throw bad_entry(std::string(name_of(which)) + " is there twice");
    bits_ |= bit(which);
  }
  [[nodiscard]] bool has(field which) const { return (bits_ & bit(which)) != 0; }
  void require(std::span<const field> wanted) const {
    for (const field which : wanted) {
      if (!has(which)) throw bad_entry(std::string(name_of(which)) + " is missing");
    }
  }

 private:
  static unsigned bit(field which) { return 1U << static_cast<unsigned>(which); }
  unsigned bits_ = 0;
};

std::optional<field> find_field(std::string_view key) {
  const auto found = std::find(field_names.begin(), field_names.end(), key);
  if (found == field_names.end()) return std::nullopt;
  return static_cast<field>(found - field_names.begin());
}

struct total_names {
  std::string_view n;
  std::string_view mean;
  std::string_view min;
  std::string_view max;
};

void check_totals(const profile& read, const total_names& names) {
  if (read.n == 0 && (read.mean != 0 || read.m2 != 0 || read.max != 0 || !read.recent.empty())) {
    refuse(names.n, "0", "more, since there is a " + std::string(names.mean));
  }
  if (read.min > read.max) refuse(names.min, "above " + std::string(names.max), "at most that");
  if (read.recent.size() > read.n) refuse("recent", "longer than n", "at most n samples");
}

profile read_ours(json_reader& json, double now) {
  profile read;
  seen_fields seen;
  json.object([&](std::string_view key) {
    const auto which = find_field(key);
    if (!which || *which >= field::avg_time) return json.skip();
    seen.add(*which);
    switch (*which) {
      case field::n:
        read.n = read_count(json, key);
        break;
      case field::mean:
        read.mean = read_seconds(json, key);
        break;
      case field::m2:
        read.m2 = read_limited(json, key, 1e300);
        break;
      case field::min:
        read.min = read_seconds(json, key);
        break;
      case field::max:
        read.max = read_seconds(json, key);
        break;
      case field::failures:
        read.failures = read_count(json, key);
        break;
      case field::timeouts:
        read.timeouts = read_count(json, key);
        break;
      default:
        read.recent = read_recent(json, now);
    }
  });
  seen.require(std::array{field::n, field::mean, field::m2, field::min, field::max});
  check_totals(read, {.n = "n", .mean = "mean", .min = "min", .max = "max"});
  return read;
}

// The file of the validator has no samples, so its mean stands for one, at the time of the last.
profile read_theirs(json_reader& json, double now) {
  profile read;
  double std_dev = 0;
  double last_updated = 0;
  seen_fields seen;
  json.object([&](std::string_view key) {
    const auto which = find_field(key);
    if (!which || *which < field::avg_time) return json.skip();
    seen.add(*which);
    switch (*which) {
      case field::avg_time:
        read.mean = read_seconds(json, key);
        break;
      case field::std_dev:
        std_dev = read_seconds(json, key);
        break;
      case field::sample_count:
        read.n = read_count(json, key);
        break;
      case field::min_time:
        read.min = read_seconds(json, key);
        break;
      case field::max_time:
        read.max = read_seconds(json, key);
        break;
      default:
        last_updated = read_limited(json, key, 1e300);
    }
  });
  seen.require(std::array{field::avg_time, field::std_dev, field::sample_count, field::min_time,
                          field::max_time});
  check_totals(read,
               {.n = "sample_count", .mean = "avg_time", .min = "min_time", .max = "max_time"});
  if (read.n == 0) return read;
  read.m2 = std_dev * std_dev * static_cast<double>(read.n - 1);
  if (last_updated > now + forgiven_s) last_updated = 0;
  read.recent.push_back({.when = last_updated, .seconds = read.mean});
  return read;
}

// --- The file ----------------------------------------------------------------------------------

class file_parser {
 public:
  file_parser(std::string_view text, double now) : json_(text), now_(now) {}

  parsed_profiles parse() {
    try {
      read_file();
    } catch (const json_error& problem) {
      result_.problem = problem.what();
      result_.values = {};
    }
    return std::move(result_);
  }

 private:
  void read_file();
  void read_our_member(std::string_view key);
  void read_rule(const std::string& rule);
  template <class Read>
  void read_entry(profile_key key, Read read);

  json_reader json_;
  double now_;
  bool has_version_ = false;
  bool has_profiles_ = false;
  parsed_profiles result_;
};

// Our file begins with a "format" that is a string; a rule of the validator is an object.
void file_parser::read_file() {
  bool is_first = true;
  bool is_ours = false;
  json_.object([&](std::string_view key) {
    if (is_first) is_ours = key == "format" && json_.at_string();
    is_first = false;
    if (is_ours) return read_our_member(key);
    read_entry({.rule = std::string(key)}, &read_theirs);
  });
  json_.finish();
  if (is_ours && !has_version_) throw json_error("version is missing");
  if (is_ours && !has_profiles_) throw json_error("profiles are missing");
  if (!is_ours && !is_first && result_.values.empty()) {
    throw json_error("it neither begins with a \"format\" nor has rules with avg_time");
  }
}

void file_parser::read_our_member(std::string_view key) {
  if (key == "format") {
    if (!json_.at_string() || json_.string() != profile_format) {
      throw json_error("format is not \"" + std::string(profile_format) + "\"");
    }
  } else if (key == "version") {
    const auto version = json_.at_number() ? to_count(json_.number()) : std::nullopt;
    if (version.value_or(0) == 0) throw json_error("version is not a number from 1 on");
    if (has_version_) throw json_error("version is there twice");
    has_version_ = true;
    result_.version = *version;
  } else if (key == "profiles") {
    if (has_profiles_) throw json_error("profiles are there twice");
    has_profiles_ = true;
    json_.object([this](std::string_view rule) { read_rule(std::string(rule)); });
  } else {
    json_.skip();
  }
}

void file_parser::read_rule(const std::string& rule) {
  if (json_.at_object()) {
    return json_.object([&](std::string_view input_class) {
      read_entry({.rule = rule, .input_class = std::string(input_class)}, &read_ours);
    });
  }
  json_.skip();
  result_.dropped.push_back("rule \"" + shortened(rule) + "\": expected an object");
}

template <class Read>
void file_parser::read_entry(profile_key key, Read read) {
  const auto drop = [&](const std::string& why) {
    std::string name = "rule \"" + shortened(key.rule) + "\"";
    if (!key.input_class.empty()) name += ", class \"" + shortened(key.input_class) + "\"";
    result_.dropped.push_back(name + ": " + why);
  };
  const json_reader::place beginning = json_.here();
  try {
    if (!json_.at_object()) throw bad_entry("expected an object");
    if (!result_.values.insert(std::move(key), read(json_, now_))) {
      drop("it is there twice; the first counts");
    }
  } catch (const bad_entry& problem) {
    json_.go_back(beginning);
    json_.skip();
    drop(problem.what());
  }
}

}  // namespace

parsed_profiles parse_profiles(std::string_view text, double now) {
  return file_parser(text, now).parse();
}

}  // namespace weft::batch::detail
