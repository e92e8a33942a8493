#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/batch/report.hpp>

namespace weft {

// What other programs read.
enum class report_format : std::uint8_t {
  json,
  junit,   // JUnit XML, one suite a batch
  tap,     // TAP version 14, with a YAML block for what failed
  sarif,   // SARIF 2.1.0: what failed, with file and line where a check says so
  github,  // workflow commands that annotate a change
};

[[nodiscard]] std::string_view name_of(report_format format) noexcept;
[[nodiscard]] std::optional<report_format> report_format_of(std::string_view name) noexcept;

[[nodiscard]] std::string to_format(const run_report& report, report_format format);

}  // namespace weft
