#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weft {

// What is wrong with a file, for programs that point at it.
struct finding {
  std::string file = {};  // relative to where the plan happens
  std::size_t line = 0;   // counted from 1; 0: all of it
  std::string message = {};

  bool operator==(const finding&) const = default;
};

inline constexpr std::size_t findings_max = 100;

// What a rule found.
struct rule_result {
  bool passed = true;
  std::string message;                 // for people; shown when it failed, and with -v
  std::vector<finding> findings = {};  // the first findings_max are kept
};

[[nodiscard]] inline rule_result pass(std::string message = {}) {
  return {.passed = true, .message = std::move(message)};
}
[[nodiscard]] inline rule_result fail_rule(std::string message) {
  return {.passed = false, .message = std::move(message)};
}

}  // namespace weft
