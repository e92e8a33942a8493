#pragma once

#include <string>
#include <utility>

namespace weft {

// What a rule found.
struct rule_result {
  bool passed = true;
  std::string message;  // for people; shown when it failed, and with -v
};

[[nodiscard]] inline rule_result pass(std::string message = {}) {
  return {.passed = true, .message = std::move(message)};
}
[[nodiscard]] inline rule_result fail_rule(std::string message) {
  return {.passed = false, .message = std::move(message)};
}

}  // namespace weft
