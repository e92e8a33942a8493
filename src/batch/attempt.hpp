#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/batch/rule.hpp>
#include <weft/process/command.hpp>

namespace weft::batch {

// One time that the body of a rule ran.
struct attempt {
  bool passed = false;
  bool timed_out = false;
  bool stopped = false;  // killed because the run ended: it counts as not run
  double start = 0;      // seconds since the beginning of the run
  double duration = 0;
  std::optional<int> exit_code = std::nullopt;
  int signal = 0;
  std::uint64_t peak_rss = 0;
  double cpu = 0;
  std::string message = {};
  std::vector<finding> findings = {};
  std::string output = {};
};

[[nodiscard]] bool is_command(const rule& of);

// How to start a rule that is a command.
[[nodiscard]] process::command command_of(const rule& of, const std::string& directory);

// What came of it; the times are left to the caller.
[[nodiscard]] attempt attempt_of(process::outcome&& ended, const rule& of);

// Runs a rule that is none, here and now; what it throws is a failure.
[[nodiscard]] attempt perform_here(const rule& of, const std::string& directory, unsigned number,
                                   const std::stop_token& stop);

// Changes when the body of the rule does.
[[nodiscard]] std::string fingerprint(const rule& of);

}  // namespace weft::batch
