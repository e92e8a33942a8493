#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include <weft/batch/runner.hpp>

#include "terminal.hpp"

namespace weft::cli {

enum class verbosity : std::uint8_t { quiet, normal, verbose };

// Shows a run while it runs. On a terminal: a bar that is drawn over, and above it what failed;
// elsewhere: a line for each rule that ended. What a rule printed is shown when it failed, and with
// verbose always.
class run_display {
 public:
  run_display(std::ostream& to, const terminal& look, verbosity how)
      : out_(to), look_(look), how_(how) {}

  void show(const run_event& event);
  // Takes the bar away.
  void close();

 private:
  void show_ended(const run_event& event);
  void show_ending(const run_event& event);
  void show_details(const rule_record& rule);
  void draw_bar(const run_event& event);
  void clear_bar();
  [[nodiscard]] std::string painted(const std::string& text, const char* colour) const;

  std::ostream& out_;
  terminal look_;
  verbosity how_;
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
  std::size_t running_ = 0;
  bool has_bar_ = false;
};

}  // namespace weft::cli
