#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "screen.hpp"
#include "terminal.hpp"

namespace weft::cli {

// A rule that runs.
struct live_rule {
  unsigned worker = 0;
  std::string id;
  double elapsed = 0;    // seconds
  double predicted = 0;  // seconds; 0: not known
};

// How a run is doing.
struct live_state {
  std::size_t total = 0;
  std::size_t ended = 0;
  std::size_t failed = 0;
  unsigned workers = 1;
  double now = 0;                       // seconds since the beginning
  double remaining = 0;                 // seconds; 0: not known
  std::vector<live_rule> running = {};  // by worker
};

// A bar, and a line for each worker, or for the rules that have run longest where there are more
// workers than rows. No line is as wide as the terminal.
[[nodiscard]] std::vector<screen_line> live_lines(const live_state& state, const terminal& look);

// The same as text that stays: what is asked for with a key.
[[nodiscard]] std::string status_text(const live_state& state, const terminal& look);

}  // namespace weft::cli
