#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::otlp {

// What Weft wants to know of the JSON in an answer.
struct answer_fields {
  std::string message;         // of a refusal
  std::string error_message;   // in partialSuccess
  std::uint64_t rejected = 0;  // the same; what makes no sense counts as 0
};

// Nothing when it is not JSON, or not an object. `rejected_name` is the field of partialSuccess
// that counts what was not taken. Takes time in proportion to the text, whatever is in it, and
// memory for these fields only.
[[nodiscard]] std::optional<answer_fields> read_answer(const std::string& text,
                                                       std::string_view rejected_name);

}  // namespace weft::otlp
