#include "metrics/names.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>

#include <weft/base/utf8.hpp>
#include <weft/telemetry/schema.hpp>

namespace weft::telemetry {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw std::invalid_argument("weft: " + problem);
}

std::string quoted(std::string_view text) { return "\"" + base::printable(text) + "\""; }

// As the C locale has them; a name must not depend on the program's.
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_identifier(std::string_view text) noexcept {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, fits);
}

void check_prefix(const std::string& prefix) {
  if (prefix.empty()) return;
  if (!is_identifier(prefix) || prefix.back() == '_') {
    refuse("metrics_options::prefix is " + quoted(prefix) +
           "; give letters, digits and underscores, beginning with a letter or an underscore and "
           "ending with no underscore, such as \"my_service\", or nothing");
  }
}

// Labels that the schema's attributes become.
const std::set<std::string>& labels_of_schema() {
  static const std::set<std::string> names = [] {
    std::set<std::string> found;
    for (const metric_schema* m : metric::all) {
      for (std::size_t i = 0; i < m->attribute_count; ++i) {
        found.insert(label_name(m->attributes[i]));
      }
    }
    return found;
  }();
  return names;
}

void check_label(const metric_label& label) {
  const std::string where = "metrics_options::labels: the name " + quoted(label.name);
  if (!is_identifier(label.name)) {
    refuse(where +
           " is none for Prometheus; give letters, digits and underscores, and no digit "
           "first, such as \"region\"");
  }
  if (label.name.starts_with("__")) {
    refuse(where +
           " begins with two underscores, which Prometheus keeps for itself; leave them out");
  }
  if (label.name == "le" || label.name == "quantile") {
    refuse(where + " has a meaning in histograms; choose another");
  }
  if (labels_of_schema().contains(label.name)) {
    refuse(where + " is one that Weft's own metrics have; choose another");
  }
  if (!base::is_utf8(label.value) || base::has_control(label.value)) {
    refuse(where + " has the value " + quoted(label.value) +
           "; give UTF-8 without control characters");
  }
}

}  // namespace

void check_options(const metrics_options& options) {
  check_prefix(options.prefix);
  std::set<std::string_view> seen;
  for (const metric_label& label : options.labels) {
    check_label(label);
    if (!seen.insert(label.name).second) {
      refuse("metrics_options::labels has the name " + quoted(label.name) +
             " twice; leave one out");
    }
  }
}

void check_entry_name(const std::string& name) {
  if (name.empty()) refuse("metrics: the name is empty; give one that tells it from others");
  if (name.size() > metrics::name_length_max) {
    refuse("metrics: the name that begins with " + quoted(std::string_view(name).substr(0, 20)) +
           " has " + std::to_string(name.size()) + " bytes; give at most " +
           std::to_string(metrics::name_length_max));
  }
  if (!base::is_utf8(name) || base::has_control(name)) {
    refuse("metrics: the name is " + quoted(name) + "; give UTF-8 without control characters");
  }
}

std::string label_name(std::string_view attribute) {
  std::string name(attribute);
  std::ranges::replace(name, '.', '_');
  return name;
}

}  // namespace weft::telemetry
