#pragma once

#include <optional>
#include <string>
#include <vector>

#include "terminal.hpp"

namespace weft::cli {

struct plot_point {
  double time_s = 0;
  std::optional<unsigned> score = std::nullopt;
  unsigned target = 0;
  unsigned current = 0;
};

// Score above, target and current below, on one time axis. A column shows the lowest values of its
// stretch of time, so that no dip is lost; where it has none, the last ones before. Lines are cut
// to fit.
[[nodiscard]] std::string plot(const std::vector<plot_point>& points, const terminal& look);

}  // namespace weft::cli
