#pragma once

#include <exception>
#include <string>

#include <nlohmann/json.hpp>

namespace weft::batch {

// Why a text was not what was expected, in words for a user: the library names its own classes
// first.
[[nodiscard]] inline std::string json_reason(const std::exception& problem) {
  if (dynamic_cast<const nlohmann::json::parse_error*>(&problem) != nullptr) return "it is no JSON";
  const std::string text = problem.what();
  const std::size_t end = text.starts_with("[json.exception") ? text.find("] ") : text.npos;
  return end == text.npos ? text : text.substr(end + 2);
}

}  // namespace weft::batch
