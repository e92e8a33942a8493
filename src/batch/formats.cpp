#include <weft/batch/formats.hpp>

#include <array>

#include "batch/format_writers.hpp"

namespace weft {
namespace {

struct known_format {
  report_format format;
  std::string_view name;
  std::string (*write)(const run_report&);
};

constexpr std::array formats = {
    known_format{report_format::json, "json", to_json},
    known_format{report_format::junit, "junit", batch::to_junit},
    known_format{report_format::tap, "tap", batch::to_tap},
    known_format{report_format::sarif, "sarif", batch::to_sarif},
    known_format{report_format::github, "github", batch::to_github},
};

}  // namespace

std::string_view name_of(report_format format) noexcept {
  for (const known_format& each : formats) {
    if (each.format == format) return each.name;
  }
  return "";
}

std::optional<report_format> report_format_of(std::string_view name) noexcept {
  for (const known_format& each : formats) {
    if (each.name == name) return each.format;
  }
  return std::nullopt;
}

std::string to_format(const run_report& report, report_format format) {
  for (const known_format& each : formats) {
    if (each.format == format) return each.write(report);
  }
  return "";
}

}  // namespace weft
