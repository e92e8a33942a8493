#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/batch/ready_queue.hpp>
#include <weft/batch/rule_result.hpp>

namespace weft {

// How a rule came out.
enum class rule_status : std::uint8_t {
  waiting,  // has not ended; in a finished run: never began
  passed,
  flaky,   // passed, but not at the first attempt
  warned,  // failed, and its severity is warn
  failed,
  timed_out,
  skipped,  // something it comes after failed
};

[[nodiscard]] std::string_view name_of(rule_status status) noexcept;
[[nodiscard]] std::optional<rule_status> rule_status_of(std::string_view name) noexcept;

// Rules that come after one with this status may run.
[[nodiscard]] constexpr bool lets_others_run(rule_status status) noexcept {
  return status == rule_status::passed || status == rule_status::flaky ||
         status == rule_status::warned;
}
[[nodiscard]] constexpr bool is_failure(rule_status status) noexcept {
  return status == rule_status::failed || status == rule_status::timed_out;
}
// It has run to its end, one way or the other.
[[nodiscard]] constexpr bool has_run(rule_status status) noexcept {
  return lets_others_run(status) || is_failure(status);
}

// How a run came to its end.
enum class run_ending : std::uint8_t {
  none,         // it has not, or was killed
  complete,     // every rule was dealt with
  failed_fast,  // at the first failure, as asked
  interrupted,  // by the user
  out_of_time,
};

[[nodiscard]] std::string_view name_of(run_ending ending) noexcept;

// Where an expectation came from.
enum class cost_source : std::uint8_t { profile, hint, similar, guess };

[[nodiscard]] std::string_view name_of(cost_source source) noexcept;

// An attempt that failed and was repeated.
struct attempt_record {
  unsigned worker = 0;
  double start = 0;
  double duration = 0;
};

// What happened to one rule. Times are seconds since the beginning of the run.
struct rule_record {
  // As planned.
  std::string id;
  std::string name = {};
  std::string batch = {};
  std::vector<std::string> after = {};
  unsigned weight = 1;
  std::string fingerprint = {};  // changes when the body of the rule does
  double predicted = 0;
  cost_source source = cost_source::guess;

  // As it came.
  rule_status status = rule_status::waiting;
  double ready = 0;
  std::optional<double> held = std::nullopt;  // since when there was no room for it
  double start = 0;                           // of the last attempt
  double duration = 0;                        // of the last attempt
  unsigned worker = 0;
  std::optional<unsigned> stolen_from = std::nullopt;
  unsigned attempts = 0;
  std::vector<attempt_record> earlier = {};     // attempts before the last
  std::optional<int> exit_code = std::nullopt;  // of a command that ended by itself
  int signal = 0;
  std::uint64_t peak_rss = 0;
  double cpu = 0;            // seconds, of a command and its children
  std::string message = {};  // why it failed, in one line
  std::vector<finding> findings = {};
  std::string output = {};
  std::string skipped_for = {};  // the rule whose failure is why

  [[nodiscard]] double end() const noexcept { return start + duration; }
};

// A batch as planned, and what it got.
struct batch_record {
  std::string id;
  std::string name = {};
  std::vector<std::string> after = {};
  std::optional<unsigned> workers = std::nullopt;  // with barriers: how many it got
  double began = 0;                                // with barriers
};

// Everything about a run: what the event log says, and what reports are made of.
struct run_record {
  std::string id;
  std::string plan;
  std::string plan_file = {};
  bool partial = false;  // rules of the plan file were left out, as asked
  double started = 0;    // seconds since 1970
  unsigned workers = 1;
  run_policy policy = run_policy::critical_path;
  bool barriers = false;
  bool fixed = false;
  std::vector<batch_record> batches = {};
  std::vector<rule_record> rules = {};
  double elapsed = 0;  // until the last event
  run_ending ending = run_ending::none;
  unsigned resumed = 0;                            // how many times
  std::vector<std::uint64_t> steal_attempts = {};  // of each worker
};

}  // namespace weft
