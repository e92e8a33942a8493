#include "otlp/check_options.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>

#include <weft/base/utf8.hpp>

#include "otlp/endpoint.hpp"

namespace weft::otlp {
namespace {

constexpr std::size_t fields_max = 100;
constexpr std::size_t name_length_max = 200;
constexpr std::size_t value_length_max = 8000;

[[noreturn]] void refuse(const std::string& problem) {
  throw std::invalid_argument("weft: otlp_options::" + problem);
}

std::string quoted(std::string_view text) {
  return "\"" + base::printable(text.substr(0, name_length_max)) + "\"";
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// What HTTP calls a token.
bool is_token(std::string_view text) noexcept {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  const auto is_fit = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= name_length_max && std::ranges::all_of(text, is_fit);
}

void check_header(const otlp_field& header) {
  constexpr std::array<std::string_view, 8> own = {"accept-encoding",
                                                   "connection",
                                                   "content-encoding",
                                                   "content-length",
                                                   "content-type",
                                                   "transfer-encoding",
                                                   "host",
                                                   "expect"};
  const std::string where = "headers: " + quoted(header.name);
  if (!is_token(header.name)) {
    refuse(where + " is no name of a header; give letters, digits and hyphens, up to " +
           std::to_string(name_length_max));
  }
  if (std::ranges::find(own, lower(header.name)) != own.end()) {
    refuse(where + " is written by Weft itself; leave it out");
  }
  const auto is_fit = [](char c) { return c == '\t' || (c >= ' ' && c < 0x7F); };
  if (header.value.size() > value_length_max || !std::ranges::all_of(header.value, is_fit)) {
    refuse(where +
           " has a value with a line end, another control character, or one that is not ASCII, or "
           "it is longer than " +
           std::to_string(value_length_max) + " bytes; give text in one line");
  }
}

void check_headers(const std::vector<otlp_field>& headers) {
  if (headers.size() > fields_max) {
    refuse("headers has more than " + std::to_string(fields_max) + "; leave some out");
  }
  std::set<std::string> seen;
  for (const otlp_field& header : headers) {
    check_header(header);
    if (!seen.insert(lower(header.name)).second) {
      refuse("headers has " + quoted(header.name) + " twice; leave one out");
    }
  }
}

void check_text(const std::string& where, std::string_view text) {
  if (!base::is_utf8(text) || base::has_control(text) || text.size() > value_length_max) {
    refuse(where + " is " + quoted(text) + "; give UTF-8 without control characters, at most " +
           std::to_string(value_length_max) + " bytes");
  }
}

void check_resource(const std::vector<otlp_field>& resource) {
  if (resource.size() > fields_max) {
    refuse("resource has more than " + std::to_string(fields_max) + "; leave some out");
  }
  std::set<std::string_view> seen;
  for (const otlp_field& attribute : resource) {
    if (attribute.name.empty()) refuse("resource has an attribute without a name; give it one");
    const std::string where = "resource: " + quoted(attribute.name);
    check_text("resource: a name", attribute.name);
    check_text(where, attribute.value);
    if (attribute.name == "service.name") {
      refuse(where + " has an option of its own, service_name; use that");
    }
    if (attribute.name.starts_with("telemetry.sdk.")) {
      refuse(where + " is written by Weft itself; leave it out");
    }
    if (!seen.insert(attribute.name).second) {
      refuse("resource has " + quoted(attribute.name) + " twice; leave one out");
    }
  }
}

// Ends of waits are computed by adding; nobody means a year.
constexpr std::chrono::milliseconds duration_max = std::chrono::hours(24 * 366);

void check_duration(const std::string& name, std::chrono::milliseconds value,
                    std::chrono::milliseconds least) {
  if (value >= least && value <= duration_max) return;
  refuse(name + " is " + std::to_string(value.count()) + " ms; give " +
         (least.count() > 0 ? "more than 0" : "0 or more") + ", and at most a year");
}

}  // namespace

void check_options(const otlp_options& options) {
  using std::chrono::milliseconds;
  static_cast<void>(parse_endpoint(options.endpoint, "otlp_options::endpoint"));
  if (options.service_name.empty()) {
    refuse("service_name is empty; give the name under which people look for the program");
  }
  check_text("service_name", options.service_name);
  check_resource(options.resource);
  check_headers(options.headers);
  check_duration("interval", options.interval, milliseconds(1));
  check_duration("timeout", options.timeout, milliseconds(1));
  check_duration("shutdown_timeout", options.shutdown_timeout, milliseconds(0));
  check_duration("backoff_first", options.backoff_first, milliseconds(1));
  check_duration("backoff_max", options.backoff_max, milliseconds(1));
  if (options.spans_max == 0) refuse("spans_max is 0; give at least 1");
  if (options.batch_size == 0) refuse("batch_size is 0; give at least 1");
}

}  // namespace weft::otlp
