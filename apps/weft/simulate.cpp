#include "simulate.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <weft/adapt/breaker.hpp>
#include <weft/adapt/policy/health_zones.hpp>
#include <weft/adapt/simulate.hpp>

#include "arguments.hpp"
#include "exit_code.hpp"
#include "health_trace.hpp"
#include "plot.hpp"
#include "terminal.hpp"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;
using std::chrono::nanoseconds;

struct options {
  std::string policy;
  std::string trace;
  unsigned min = 1;
  unsigned max = 10;
  std::int64_t up_s = 300;
  std::int64_t down_s = 60;
  std::int64_t stale_after_s = 120;
  std::string stale = "half";
  bool plot = false;
};

stale_policy to_stale_policy(const std::string& name) {
  if (name == "hold") return stale_policy::hold;
  return name == "min" ? stale_policy::min : stale_policy::half;
}

health_zones_config to_config(const options& given) {
  return {.min = given.min,
          .max = given.max,
          .up_cooldown = std::chrono::seconds(given.up_s),
          .down_cooldown = std::chrono::seconds(given.down_s),
          .stale_after = std::chrono::seconds(given.stale_after_s),
          .stale_policy = to_stale_policy(given.stale)};
}

// The policy as a service runs it: attempts go to the breaker before the poll.
class zones_with_breaker {
 public:
  explicit zones_with_breaker(const health_zones_config& config)
      : zones_(config, adapt::time_point{}) {}

  decision poll(const health_sample& sample, adapt::time_point now) {
    for (const adapt::outcome outcome : sample.outcomes) breaker_.record(outcome);
    health_reading reading{.circuit = breaker_.circuit()};
    if (sample.score) reading.score = *sample.score;
    return zones_.poll(reading, now);
  }

 private:
  adapt::breaker breaker_;
  health_zones zones_;
};

// Whole seconds without a point, so that what went in as 10 comes out as 10.
ordered_json seconds(nanoseconds time) {
  if (time % std::chrono::seconds(1) == nanoseconds::zero()) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
  }
  return std::chrono::duration<double>(time).count();
}

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

std::string to_json(const health_trace::row& row, const decision& d) {
  ordered_json object;
  object["time_s"] = seconds(row.at.time_since_epoch());
  object["score"] = or_null(row.reading.score);
  object["zone"] = name(d.zone);
  object["target"] = d.target;
  object["current"] = d.limit;
  object["reason"] = name(d.reason);
  object["gate"] = name(d.gate);
  object["next_move_s"] = d.next_move ? seconds(*d.next_move) : ordered_json();
  return object.dump();
}

void print_decisions(const options& given, health_trace& trace) {
  simulate(zones_with_breaker(to_config(given)), trace,
           [](const health_trace::row& row, const decision& d) {
             std::cout << to_json(row, d) << '\n';
           });
}

void print_plot(const options& given, health_trace& trace) {
  std::vector<plot_point> points;
  const auto add = [&](const health_trace::row& row, const decision& d) {
    const std::chrono::duration<double> time = row.at.time_since_epoch();
    points.push_back({.time_s = time.count(),
                      .score = row.reading.score,
                      .target = d.target,
                      .current = d.limit});
  };
  try {
    simulate(zones_with_breaker(to_config(given)), trace, add);
  } catch (...) {
    // As with decisions, the rows before a bad one are answered.
    if (!points.empty()) std::cout << plot(points, standard_output());
    throw;
  }
  std::cout << plot(points, standard_output());
}

int replay(const options& given, std::istream& in, const std::string& name) {
  int status = exit_code::ok;
  try {
    health_trace trace(in, name);
    given.plot ? print_plot(given, trace) : print_decisions(given, trace);
  } catch (const bad_trace& problem) {
    std::cout.flush();
    std::cerr << problem.what() << '\n';
    status = exit_code::bad_data;
  } catch (const unreadable_trace& problem) {
    std::cout.flush();
    std::cerr << problem.what() << '\n';
    status = exit_code::io_error;
  }
  if (!std::cout.flush()) {
    std::cerr << "weft simulate: cannot write to standard output\n";
    return exit_code::io_error;
  }
  return status;
}

int refuse_input(const std::string& path, int error) {
  std::cerr << "weft simulate: cannot read " << path << ": " << std::strerror(error)
            << "; expected a trace with the header time_s,score,outcomes\n";
  return error == EACCES ? exit_code::no_permission : exit_code::missing_input;
}

int run(const options& given) {
  std::ios::sync_with_stdio(false);
  if (given.trace == "-") return replay(given, std::cin, "standard input");
  std::error_code ignored;
  if (std::filesystem::is_directory(given.trace, ignored)) {
    return refuse_input(given.trace, EISDIR);
  }
  errno = 0;
  std::ifstream file(given.trace, std::ios::binary);
  if (!file) return refuse_input(given.trace, errno);
  return replay(given, file, given.trace);
}

constexpr const char* epilogue = R"(The trace is CSV with a header:
  time_s,score,outcomes
  0,80,+++
  10,42,+-
  20,timeout,
score is 0 to 100 or timeout; outcomes has one + or - for each attempt that
finished since the row before, oldest first. Times are seconds and never go
back. The policy starts at time 0 with half of the maximum.

Output is one JSON object for each row. reason is the rule that applied,
gate what kept the limit from moving, next_move_s how long it will.

Example:
  weft simulate health_zones monday.csv --min 1 --max 10 --up 300 --down 60
  weft simulate health_zones monday.csv --max 20 --plot

Exit status: 0, 2 for wrong usage, 65 for a bad row, 66 for a missing trace,
74 when reading or writing fails, 77 when the trace may not be read.)";

}  // namespace

void add_simulate(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("simulate", "Replay a recorded trace through a policy");
  command.add_option("POLICY", given->policy, "Policy to try: health_zones")
      ->required()
      ->option_text(" ")
      ->check(CLI::IsMember({"health_zones"}));
  command.add_option("TRACE", given->trace, "Trace to replay; - reads standard input")
      ->required()
      ->option_text(" ");
  command.add_option("--min", given->min, "Smallest limit, 1 to 50")
      ->option_text("N [1]")
      ->check(whole_number(1, 50));
  command.add_option("--max", given->max, "Largest limit, 1 to 50")
      ->option_text("N [10]")
      ->check(whole_number(1, 50));
  command.add_option("--up", given->up_s, "Cooldown before a raise, 30 to 86400 s")
      ->option_text("SECONDS [300]")
      ->check(whole_number(30, 86400));
  command.add_option("--down", given->down_s, "Cooldown before a reduction, 30 to 86400 s")
      ->option_text("SECONDS [60]")
      ->check(whole_number(30, 86400));
  command
      .add_option("--stale-after", given->stale_after_s,
                  "Age beyond which a score is void, 1 to 86400 s")
      ->option_text("SECONDS [120]")
      ->check(whole_number(1, 86400));
  command.add_option("--stale-policy", given->stale, "Where the limit goes then")
      ->option_text("half|hold|min [half]")
      ->check(CLI::IsMember({"half", "hold", "min"}));
  command.add_flag("--plot", given->plot, "Draw score, target and limit; without, JSON");
  command.footer(epilogue);
  command.callback([given, &status] {
    if (given->min > given->max) {
      throw CLI::ValidationError(
          "--min", std::to_string(given->min) + " is above --max " + std::to_string(given->max));
    }
    status = run(*given);
  });
}

}  // namespace weft::cli
