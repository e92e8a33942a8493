#pragma once

#include <string>
#include <string_view>

#include <weft/batch/record.hpp>

namespace weft::batch {

// What the formats for other programs say of a rule. Nothing is escaped yet.

// Text without control characters, of one line or of many, nor what XML and YAML do not take for
// characters. Bytes that are no UTF-8 are mended as in the event log, so that a report of a run and
// one of its log are the same.
[[nodiscard]] std::string shown_line(std::string_view text);
[[nodiscard]] std::string shown_lines(std::string_view text);

// With six digits after the point, whatever the locale.
[[nodiscard]] std::string decimal(double number);

// "AR001: Root exists".
[[nodiscard]] std::string title_of(const rule_record& rule);

// Why it failed; never empty.
[[nodiscard]] std::string reason_of(const rule_record& rule);

// Why it did not run.
[[nodiscard]] std::string why_not_run(const rule_record& rule, run_ending ending);

// "complete" and its like, for people.
[[nodiscard]] std::string in_words(run_ending ending);

// "2026-01-31T12:00:00.250", in UTC.
[[nodiscard]] std::string utc_time(double seconds_since_1970);

}  // namespace weft::batch
