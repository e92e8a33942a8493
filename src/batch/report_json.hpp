#pragma once

#include <nlohmann/json.hpp>

#include <weft/batch/report.hpp>

namespace weft::batch {

// Times to the microsecond and percentages to a hundredth: what a reader can use.
[[nodiscard]] double micro(double seconds);
[[nodiscard]] double hundredth(double percent);

// The figures of a run as a whole.
[[nodiscard]] nlohmann::ordered_json figures_of(const run_report& report);

}  // namespace weft::batch
