#pragma once

// Reads the text format of Prometheus: as much of it as Weft writes.

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test {

struct exposed_series {
  std::string name;  // with _bucket, _sum or _count where it is part of a histogram
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct exposition {
  std::map<std::string, std::string> types;  // of each family
  std::map<std::string, std::string> helps;
  std::vector<exposed_series> series;

  // The value of the one series with this name and, among others, these labels.
  [[nodiscard]] std::optional<double> value(
      const std::string& name, const std::map<std::string, std::string>& labels = {}) const {
    std::optional<double> found;
    for (const exposed_series& s : series) {
      bool fits = s.name == name;
      for (const auto& [key, wanted] : labels) {
        fits = fits && s.labels.contains(key) && s.labels.at(key) == wanted;
      }
      if (!fits) continue;
      if (found) throw std::runtime_error("several series fit " + name);
      found = s.value;
    }
    return found;
  }
};

// a="x",b="y\"z"} and so on; leaves `at` behind the brace.
inline std::map<std::string, std::string> parse_labels(const std::string& line, std::size_t& at) {
  std::map<std::string, std::string> labels;
  while (line.at(at) != '}') {
    if (line.at(at) == ',') ++at;
    const std::size_t equals = line.find('=', at);
    const std::string key = line.substr(at, equals - at);
    std::string value;
    for (at = equals + 2; line.at(at) != '"'; ++at) {
      if (line.at(at) == '\\') ++at;
      value += line.at(at);
    }
    ++at;
    if (!labels.emplace(key, value).second) throw std::runtime_error("a label twice: " + line);
  }
  ++at;
  return labels;
}

// Throws std::runtime_error or std::out_of_range for what is no exposition.
inline exposition parse_exposition(const std::string& text) {
  exposition made;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string hash;
    std::string what;
    std::string name;
    words >> hash >> what >> name;
    if (hash == "#") {
      std::string rest;
      std::getline(words >> std::ws, rest);
      if (!(what == "TYPE" ? made.types : made.helps).emplace(name, rest).second) {
        throw std::runtime_error("a family twice: " + line);
      }
      continue;
    }
    std::size_t at = line.find_first_of("{ ");
    exposed_series s{.name = line.substr(0, at), .labels = {}};
    if (line.at(at) == '{') s.labels = parse_labels(line, ++at);
    s.value = std::strtod(line.c_str() + at, nullptr);
    made.series.push_back(std::move(s));
  }
  return made;
}

}  // namespace weft::test
