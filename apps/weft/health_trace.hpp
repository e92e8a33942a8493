#pragma once

#include <cstddef>
#include <istream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/adapt/breaker.hpp>
#include <weft/adapt/simulate.hpp>

namespace weft::cli {

// A row of a trace of health scores.
struct health_sample {
  std::optional<unsigned> score = std::nullopt;  // nothing for a timeout
  std::vector<adapt::outcome> outcomes = {};     // attempts finished since the last row, in order
};

// What is wrong with a trace, as file:line: what, and what was expected.
class bad_trace : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The trace could not be read to its end, as file:line.
class unreadable_trace : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads a trace of health scores row by row:
//
//   time_s,score,outcomes
//   0,80,+++
//   10,timeout,
//
// Times are seconds from the start, never going back. Empty lines, spaces around fields, CRLF and a
// byte order mark are fine. Holds one row at a time, so a trace may be of any length.
//
// Errors: bad_trace, unreadable_trace. Lifetime: the stream outlives the trace.
class health_trace {
 public:
  using row = adapt::recorded<health_sample>;

  class iterator {
   public:
    using value_type = row;
    using difference_type = std::ptrdiff_t;

    explicit iterator(health_trace& trace) : trace_(&trace) {}
    const row& operator*() const { return *trace_->row_; }
    iterator& operator++() {
      trace_->read_row();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !trace_->row_; }

   private:
    health_trace* trace_;
  };

  // `name` is how messages call the stream.
  health_trace(std::istream& in, std::string name);

  // Once only, as for every range that is read as it goes.
  iterator begin() {
    read_header();
    read_row();
    return iterator(*this);
  }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  void read_header();
  void read_row();
  // The next line that is not blank; nothing at the end.
  std::optional<std::string_view> next_line();
  [[nodiscard]] adapt::time_point parse_time(std::string_view text) const;
  [[nodiscard]] std::optional<unsigned> parse_score(std::string_view text) const;
  [[nodiscard]] std::vector<adapt::outcome> parse_outcomes(std::string_view text) const;
  [[nodiscard]] std::string here() const;  // file:line
  [[noreturn]] void fail(const std::string& what) const;

  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t line_ = 0;
  std::optional<row> row_;
};

}  // namespace weft::cli
