#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weft/batch/runner.hpp>

#include "live_view.hpp"
#include "screen.hpp"
#include "terminal.hpp"

namespace weft::cli {

enum class verbosity : std::uint8_t { quiet, normal, verbose };

// Shows a run while it runs. On a terminal: a bar and what each worker does, drawn over, and above
// it what failed; elsewhere: a line for each rule that ended. What a rule printed is shown when it
// failed, and with verbose always.
//
// Threads: any. Never waits for whoever reads.
class run_display {
 public:
  run_display(screen& to, const terminal& look, verbosity how) : out_(to), look_(look), how_(how) {}

  void show(const run_event& event);
  // Prints how far the run has come: what somebody has asked for with a key.
  void show_status();

 private:
  // With the lock held:
  [[nodiscard]] std::string ended_text(const run_event& event) const;
  [[nodiscard]] std::string ending_text(const run_event& event) const;
  [[nodiscard]] std::string details(const rule_record& rule) const;
  void draw(const run_event& event);

  struct running_rule {
    std::string id;
    double began = 0;
    double predicted = 0;
  };

  screen& out_;
  terminal look_;
  const verbosity how_;

  std::mutex mutex_;
  live_state state_;
  std::vector<std::optional<running_rule>> running_;  // by worker
};

}  // namespace weft::cli
