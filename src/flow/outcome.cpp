#include <weft/flow/outcome.hpp>

#include <string>

namespace weft {

std::string_view to_string(outcome_kind kind) noexcept {
  switch (kind) {
    case outcome_kind::value:
      return "value";
    case outcome_kind::error:
      return "error";
    case outcome_kind::cancelled:
      return "cancelled";
    case outcome_kind::timed_out:
      return "timed out";
  }
  return "unknown";
}

void flow::throw_timed_out(std::size_t index, unsigned attempts) {
  std::string text = "weft: instance " + std::to_string(index);
  if (attempts == 0) {
    text += " had not begun when the time of all instances was over";
  } else {
    text += " took longer than it may, in attempt " + std::to_string(attempts);
  }
  throw timed_out(text + "; see instance_options::timeout and total_timeout");
}

}  // namespace weft
