#include "batch/html_report_notes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <weft/base/utf8.hpp>

namespace weft::batch {
namespace {

constexpr std::size_t output_bytes_max = std::size_t{16} << 10U;  // of one rule
constexpr std::size_t output_bytes_min = std::size_t{1} << 10U;   // less says nothing
constexpr std::size_t outputs_bytes_max = std::size_t{160} << 10U;
constexpr std::size_t message_bytes_max = 500;
constexpr std::size_t messages_bytes_max = std::size_t{80} << 10U;

bool has_note(const rule_record& rule) {
  const bool simply_passed = rule.status == rule_status::passed;
  return has_run(rule.status) && !simply_passed && !(rule.message.empty() && rule.output.empty());
}

// The last bytes of a text: an error is at the end more often than not. Does not begin inside a
// character.
std::string_view end_of(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  text.remove_prefix(text.size() - bytes);
  const auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (int i = 0; i < 3 && !text.empty() && inside(text.front()); ++i) text.remove_prefix(1);
  return text;
}

std::string beginning_of(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  text.resize(bytes);
  return base::valid_utf8(text) + " …";
}

// Gives to each who asks, until nothing is left.
class budget {
 public:
  explicit budget(std::size_t bytes) : left_(bytes) {}
  std::size_t take(std::size_t wanted) {
    const std::size_t given = std::min(wanted, left_);
    left_ -= given;
    return given;
  }

 private:
  std::size_t left_;
};

}  // namespace

rule_notes notes_of(const run_record& record) {
  const auto noted = static_cast<std::size_t>(std::ranges::count_if(record.rules, has_note));
  const std::size_t share = std::clamp(outputs_bytes_max / std::max<std::size_t>(noted, 1),
                                       output_bytes_min, output_bytes_max);
  budget outputs(outputs_bytes_max);
  budget messages(messages_bytes_max);
  rule_notes made;
  for (std::size_t r = 0; r < record.rules.size(); ++r) {
    const rule_record& rule = record.rules[r];
    if (!has_note(rule)) continue;
    const std::string message = base::printable(rule.message);
    const std::size_t room = messages.take(std::min(message.size(), message_bytes_max));
    // Escapes make it longer, so the room is for what will be shown.
    const std::string whole = base::printable_lines(end_of(rule.output, share));
    const std::string_view output = end_of(whole, outputs.take(whole.size()));
    const bool cut = rule.output.size() > share || output.size() < whole.size();
    if (room == 0 && output.empty()) {
      ++made.left_out;
      continue;
    }
    nlohmann::ordered_json note = nlohmann::ordered_json::object();
    if (room > 0) note["message"] = beginning_of(message, room);
    if (!output.empty()) note["output"] = output;
    if (cut) note["cut"] = true;
    if (rule.exit_code) note["exit"] = *rule.exit_code;
    if (rule.signal != 0) note["signal"] = rule.signal;
    made.by_place.emplace_back(std::to_string(r), std::move(note));  // [] would look at all others
  }
  return made;
}

}  // namespace weft::batch
