#include "batch/validity.hpp"

#include <charconv>

#include <toml++/toml.h>
#include <nlohmann/json.hpp>

namespace weft::batch {
namespace {

using json = nlohmann::json;

// Takes note of the first error and of nothing else, so that a large file needs no memory.
struct listener : nlohmann::json_sax<json> {
  std::string problem;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    problem = error.what();
    return false;
  }
};

}  // namespace

std::optional<text_problem> json_problem(std::string_view text) {
  listener heard;
  if (json::sax_parse(text, &heard)) return std::nullopt;
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
  constexpr std::string_view before = "line ";
  const std::size_t begin = heard.problem.find(before);
  if (begin == std::string::npos) return text_problem{.what = heard.problem};
  text_problem found{.what = heard.problem.substr(begin)};
  const std::string_view digits = std::string_view(found.what).substr(before.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), found.line);
  return found;
}

std::optional<std::size_t> line_of_endless_key(std::string_view text) noexcept {
  constexpr std::size_t parts_max = 1000;
  std::size_t line = 1;
  std::size_t dots = 0;
  bool in_key = true;
  for (const char c : text) {
    if (c == '=') in_key = false;
    if (c == '\n' || c == '{' || c == ',') {
      in_key = true;
      dots = 0;
    }
    if (in_key && c == '.' && ++dots >= parts_max) return line;
    line += c == '\n' ? 1 : 0;
  }
  return std::nullopt;
}

std::optional<text_problem> toml_problem(std::string_view text) {
  if (const auto line = line_of_endless_key(text)) {
    return text_problem{
        .line = *line, .what = "line " + std::to_string(*line) + ": a key of more than 1000 parts"};
  }
  const toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::nullopt;
  const toml::parse_error& error = parsed.error();
  const toml::source_position& at = error.source().begin;
  return text_problem{.line = at.line,
                      .what = "line " + std::to_string(at.line) + ", column " +
                              std::to_string(at.column) + ": " + std::string(error.description())};
}

}  // namespace weft::batch
