#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <weft/otlp/options.hpp>

#include "otlp/check_options.hpp"
#include "otlp/endpoint.hpp"

namespace weft {
namespace otlp {
namespace {

constexpr const char* endpoint_variable = "OTEL_EXPORTER_OTLP_ENDPOINT";
constexpr const char* headers_variable = "OTEL_EXPORTER_OTLP_HEADERS";
constexpr const char* name_variable = "OTEL_SERVICE_NAME";
constexpr const char* resource_variable = "OTEL_RESOURCE_ATTRIBUTES";

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int value_of_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// %20 is a space. Nothing when a % is not followed by two digits.
std::optional<std::string> decoded(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? value_of_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? value_of_digit(text[i + 2]) : -1;
    if (low < 0) return std::nullopt;
    made += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return made;
}

// name=value,name=value. The values may be secrets, so that messages count instead of quoting.
std::vector<otlp_field> fields_of(const char* variable, std::string_view text) {
  std::vector<otlp_field> fields;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    ++number;
    if (trimmed(part).empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string_view name = trimmed(part.substr(0, equals));
    const auto value =
        equals == std::string_view::npos ? std::nullopt : decoded(trimmed(part.substr(equals + 1)));
    if (name.empty() || !value) {
      throw std::invalid_argument(
          std::string("weft: ") + variable + ": number " + std::to_string(number) +
          " of its parts is not NAME=VALUE, or has a % that no two digits follow; give parts such "
          "as a=1,b=two%20words");
    }
    fields.push_back({std::string(name), *value});
  }
  return fields;
}

}  // namespace

otlp_options read_environment(
    const std::function<std::optional<std::string>(const char* name)>& variable) {
  const auto given = [&](const char* name) {
    std::optional<std::string> value = variable(name);
    return value && value->empty() ? std::nullopt : value;
  };
  otlp_options made;
  if (const auto url = given(endpoint_variable)) {
    static_cast<void>(parse_endpoint(*url, endpoint_variable));
    made.endpoint = *url;
  }
  if (const auto headers = given(headers_variable)) {
    made.headers = fields_of(headers_variable, *headers);
  }
  if (const auto resource = given(resource_variable)) {
    made.resource = fields_of(resource_variable, *resource);
    const auto name = std::ranges::find(made.resource, "service.name", &otlp_field::name);
    if (name != made.resource.end()) {
      made.service_name = name->value;
      made.resource.erase(name);
    }
  }
  if (const auto name = given(name_variable)) made.service_name = *name;
  try {
    check_options(made);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(error.what()) +
                                " (read from the variables OTEL_...: see " + headers_variable +
                                ", " + name_variable + ", " + resource_variable + ")");
  }
  return made;
}

}  // namespace otlp

otlp_options otlp_options::from_environment() {
  return otlp::read_environment([](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace weft
