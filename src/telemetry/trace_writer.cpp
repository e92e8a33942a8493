#include <weft/telemetry/trace_writer.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/json_string.hpp"

namespace weft::telemetry {
namespace {

// A whole number of them, so that slices which touch in time still touch in the file.
std::int64_t nanoseconds(double seconds) {
  constexpr double longest = 9e9;  // seconds that fit
  if (std::isnan(seconds)) return 0;
  return std::llround(std::clamp(seconds, -longest, longest) * 1e9);
}

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits{};
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

// The format counts in microseconds.
void append_time(std::string& out, std::int64_t nanoseconds) {
  if (nanoseconds < 0) out += '-';
  const std::int64_t size = std::abs(nanoseconds);
  append_number(out, size / 1000);
  (out += '.') += std::to_string(1000 + size % 1000).substr(1);
}

struct append_value {
  std::string& out;
  void operator()(std::string_view text) const { base::append_json_string(out, text); }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(std::int64_t number) const { append_number(out, number); }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_number(out, number);
    } else {
      out += "null";  // JSON has no other word
    }
  }
};

}  // namespace

// One object of the list, ended with this.
class trace_writer::event {
 public:
  event(trace_writer& of, char phase, std::string_view name) : out_(of.out_) {
    out_ += of.first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    of.first_ = false;
    (out_ += phase) += "\",\"name\":";
    base::append_json_string(out_, name);
  }
  ~event() { out_ += '}'; }
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  void text(std::string_view key, std::string_view value) {
    name(key);
    base::append_json_string(out_, value);
  }
  void number(std::string_view key, std::uint64_t value) {
    name(key);
    append_number(out_, value);
  }
  void time(std::string_view key, std::int64_t nanoseconds) {
    name(key);
    append_time(out_, nanoseconds);
  }
  void track(trace_track where) {
    number("pid", where.process);
    number("tid", where.thread);
  }
  void arguments(std::span<const trace_argument> values) {
    name("args");
    out_ += '{';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      base::append_json_string(out_, values[i].name);
      out_ += ':';
      std::visit(append_value{out_}, values[i].value);
    }
    out_ += '}';
  }

 private:
  void name(std::string_view key) { ((out_ += ",\"") += key) += "\":"; }

  std::string& out_;
};

trace_writer::trace_writer(std::string& to) : out_(to) {
  out_ += R"({"displayTimeUnit":"ms","traceEvents":[)";
}

trace_writer::~trace_writer() { out_ += "\n]}\n"; }

void trace_writer::name_process(std::uint32_t process, std::string_view name) {
  event made(*this, 'M', "process_name");
  made.number("pid", process);
  made.arguments(std::array{trace_argument{"name", name}});
}

void trace_writer::name_track(trace_track track, std::string_view name, std::int64_t order) {
  {
    event made(*this, 'M', "thread_name");
    made.track(track);
    made.arguments(std::array{trace_argument{"name", name}});
  }
  event made(*this, 'M', "thread_sort_index");
  made.track(track);
  made.arguments(std::array{trace_argument{"sort_index", order}});
}

void trace_writer::slice(trace_track track, std::string_view name, std::string_view category,
                         double begin, double duration, std::span<const trace_argument> arguments) {
  const std::int64_t from = nanoseconds(begin);
  const std::int64_t until = nanoseconds(begin + duration);
  event made(*this, 'X', name);
  made.text("cat", category);
  made.track(track);
  made.time("ts", from);
  made.time("dur", std::max<std::int64_t>(0, until - from));
  made.arguments(arguments);
}

void trace_writer::instant(trace_track track, std::string_view name, std::string_view category,
                           double at, std::span<const trace_argument> arguments) {
  event made(*this, 'i', name);
  made.text("cat", category);
  made.track(track);
  made.time("ts", nanoseconds(at));
  made.text("s", "t");  // drawn on its track, not across all
  made.arguments(arguments);
}

void trace_writer::counter(std::uint32_t process, std::string_view name, double at,
                           std::span<const trace_argument> values) {
  event made(*this, 'C', name);
  made.number("pid", process);
  made.time("ts", nanoseconds(at));
  made.arguments(values);
}

void trace_writer::arrow(std::string_view name, std::string_view category, trace_track from,
                         double from_time, trace_track to, double to_time) {
  const std::uint64_t id = next_arrow_++;
  {
    event start(*this, 's', name);
    start.text("cat", category);
    start.number("id", id);
    start.track(from);
    start.time("ts", nanoseconds(from_time));
  }
  event finish(*this, 'f', name);
  finish.text("cat", category);
  finish.number("id", id);
  finish.track(to);
  finish.time("ts", nanoseconds(to_time));
  finish.text("bp", "e");  // ends at the slice around it; without this, at the next one
}

}  // namespace weft::telemetry
