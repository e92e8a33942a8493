#include "run.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>
#include <weft/batch/event_log.hpp>
#include <weft/batch/profile_store.hpp>
#include <weft/batch/runner.hpp>
#include <weft/batch/select.hpp>
#include <weft/process/supervisor.hpp>

#include "arguments.hpp"
#include "dry_run.hpp"
#include "exit_code.hpp"
#include "find_run.hpp"
#include "interrupt.hpp"
#include "keyboard.hpp"
#include "named_plan.hpp"
#include "refusal.hpp"
#include "report_output.hpp"
#include "run_display.hpp"
#include "run_summary.hpp"
#include "screen.hpp"
#include "terminal.hpp"

namespace weft::cli {
namespace {

struct options {
  std::string plan;
  unsigned workers = 0;
  batch::selection wanted;
  std::string shard;
  bool fail_fast = false;
  bool keep_going = false;
  bool barriers = false;
  bool fixed = false;
  std::string policy = "critical-path";
  bool no_profiling = false;
  std::string profiles = ".weft/profiles.json";
  std::string learn_into;
  std::string runs = default_runs;
  unsigned keep_runs = 20;
  std::string timeout;
  double load = 0;
  std::string memory;
  bool resume = false;
  bool rerun_failed = false;
  bool dry_run = false;
  output_options report;
  bool quiet = false;
  bool verbose = false;
};

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto full = std::filesystem::absolute(path, ignored).lexically_normal();
  return full.empty() ? path : full.string();
}

// The newest log of this plan.
std::optional<std::string> last_run(const options& given, const std::string& plan_file,
                                    batch::logged_run& read) {
  for (const std::string& path : batch::list_runs(given.runs)) {
    auto logged = batch::read_run(path);
    if (!logged) {
      std::cerr << "weft run: warning: left out: " << base::printable(logged.error().message)
                << '\n';
      continue;
    }
    if (logged->record.plan_file != plan_file || !logged->has_whole_plan) continue;
    read = std::move(*logged);
    return path;
  }
  return std::nullopt;
}

std::string must_find_last_run(const options& given, const std::string& plan_file,
                               batch::logged_run& read, const char* option) {
  auto path = last_run(given, plan_file, read);
  if (!path) {
    throw refusal{exit_code::missing_input, std::string(option) + ": " + given.runs +
                                                " has no run of " + base::printable(given.plan) +
                                                "; run it without " + option + " first"};
  }
  return *path;
}

// Every pattern must name something: a misspelt one would quietly run nothing.
void expect_matches(const plan& p, const options& given) {
  const auto expect = [&](const char* option, const std::vector<std::string>& patterns,
                          auto make_selection) {
    for (const std::string& pattern : patterns) {
      batch::selection single;
      make_selection(single).push_back(pattern);
      const std::size_t left = batch::select(p, single).rules().size();
      const bool skips = std::string_view(option) == "--skip";
      if (skips ? left < p.rules().size() : left > 0) continue;
      throw refusal{exit_code::usage, std::string(option) + ": no rule of " +
                                          base::printable(given.plan) + " matches " +
                                          base::printable(pattern)};
    }
  };
  using selection = batch::selection;
  expect("--only", given.wanted.only, [](selection& s) -> auto& { return s.only; });
  expect("--tag", given.wanted.tags, [](selection& s) -> auto& { return s.tags; });
  expect("--skip", given.wanted.skip, [](selection& s) -> auto& { return s.skip; });
}

// The rules of the plan but those that an earlier run had and `wanted` says yes to.
template <class Wanted>
std::vector<std::string> all_but(const plan& whole, const run_record& before, Wanted wanted) {
  std::set<std::string_view> kept;
  for (const rule_record& rule : before.rules) {
    if (wanted(rule)) kept.insert(rule.id);
  }
  std::vector<std::string> others;
  for (const rule& each : whole.rules()) {
    if (!kept.contains(each.id)) others.push_back(each.id);
  }
  return others;
}

plan chosen_rules(const plan& whole, const options& given, const std::string& plan_file) {
  expect_matches(whole, given);
  batch::selection wanted = given.wanted;
  if (given.rerun_failed) {
    batch::logged_run before;
    must_find_last_run(given, plan_file, before, "--rerun-failed");
    wanted.done = all_but(whole, before.record,
                          [](const rule_record& rule) { return !lets_others_run(rule.status); });
  }
  if (wanted.empty() && given.shard.empty()) return whole;
  plan chosen = batch::select(whole, wanted);
  if (given.shard.empty()) return chosen;
  const std::string profiles = given.no_profiling ? "" : given.profiles;
  return batch::select(chosen, *parse_shard(given.shard), batch::expected_costs(chosen, profiles));
}

// What the run that is to go on had of the plan, whatever it was chosen by; its log goes to `log`.
plan rules_to_resume(const plan& whole, const options& given, const std::string& plan_file,
                     std::string& log) {
  batch::logged_run before;
  log = must_find_last_run(given, plan_file, before, "--resume");
  if (before.record.ending == run_ending::complete) {
    throw refusal{exit_code::missing_input, "--resume: the last run of " +
                                                base::printable(given.plan) +
                                                " has come to its end; run it anew"};
  }
  if (given.dry_run) {
    const auto is_left = [](const rule_record& rule) {
      return rule.status == rule_status::waiting;
    };
    return batch::select(whole, {.done = all_but(whole, before.record, is_left)});
  }
  if (!before.record.partial) return whole;
  const auto any = [](const rule_record&) { return true; };
  return batch::select(whole, {.done = all_but(whole, before.record, any)});
}

run_options to_run_options(const options& given, const std::string& plan_file) {
  run_options made;
  made.workers = given.workers;
  made.policy = policy_named(given.policy);
  made.barriers = given.barriers;
  made.fixed = given.fixed;
  made.fail_fast = given.fail_fast;
  made.profiles = given.no_profiling ? "" : given.profiles;
  made.learn_into = given.learn_into;
  made.load_max = given.load;
  if (!given.memory.empty()) made.memory = parse_size(given.memory).value_or(0);
  if (!given.timeout.empty()) {
    made.timeout = parse_duration(given.timeout).value_or(std::chrono::nanoseconds(0));
  }
  made.log_directory = given.runs;
  made.logs_kept = given.keep_runs;
  made.plan_file = plan_file;
  return made;
}

// What the user can do now.
std::string next_steps(const options& given, const run_report& report) {
  std::string command = "weft run " + base::printable(given.plan);
  if (given.runs != default_runs) command += " --runs " + base::printable(given.runs);
  if (report.record.ending != run_ending::complete && report.waiting_count > 0) {
    return "\nTo go on where it ended:  " + command + " --resume\n";
  }
  if (report.failed_count > 0 && given.plan != "-") {
    return "\nTo run what failed again:  " + command + " --rerun-failed\n";
  }
  return "";
}

int exit_status(const run_report& report, int signal) {
  if (report.record.ending == run_ending::interrupted) {
    return signal == 0 ? exit_code::interrupted : 128 + signal;
  }
  return report.passed() ? exit_code::ok : exit_code::failed;
}

int show_dry_run(const options& given, const std::string& text) {
  report_file file("--output", given.report.output);
  if (file.is_wanted()) {
    file.write(text);
  } else {
    std::cout << text;
  }
  return exit_code::ok;
}

// What has not happened has neither a trace nor results.
void check_dry_run(const options& given) {
  if (!given.dry_run) return;
  if (!given.report.trace.empty()) {
    throw refusal{exit_code::usage, "--trace: a dry run has none; leave --dry-run out"};
  }
  if (given.report.format != "text" && given.report.format != "json") {
    throw refusal{exit_code::usage, "--format: a dry run can be shown as text or json, not as " +
                                        given.report.format};
  }
}

// Before anything runs, as with files of reports: what was learned would be lost.
void check_learning(const options& given) {
  std::error_code ignored;
  if (given.learn_into.empty() || !std::filesystem::exists(given.learn_into, ignored)) return;
  if (const auto read = batch::read_profiles(given.learn_into); !read) {
    throw refusal{exit_code::bad_data, "--learn: " + read.error().message};
  }
}

int run_plan(const options& given) {
  check_dry_run(given);
  expect_different({{"PLAN", given.plan == "-" ? "" : given.plan},
                    {"--output", given.report.output},
                    {"--trace", given.report.trace}});
  check_learning(given);
  const bool from_input = given.plan == "-";
  const plan whole = must_load_plan(given.plan);
  const std::string plan_file = from_input ? "-" : absolute(given.plan);
  run_options how = to_run_options(given, plan_file);
  const plan chosen = given.resume ? rules_to_resume(whole, given, plan_file, how.resume)
                                   : chosen_rules(whole, given, plan_file);
  how.partial = chosen.rules().size() < whole.rules().size();
  if (given.dry_run) {
    return show_dry_run(given, describe_dry_run(chosen, how, given.report.format == "json"));
  }
  report_output report_to(given.report);
  const verbosity shown = given.quiet     ? verbosity::quiet
                          : given.verbose ? verbosity::verbose
                                          : verbosity::normal;
  const bool has_text = !report_to.replaces_text();
  const terminal look = has_text ? standard_output() : terminal{};
  const bool is_live = look.interactive && shown != verbosity::quiet;
  interrupts signals(!is_live);
  static_cast<void>(process::become_subreaper());
  how.finish = signals.finish();
  how.stop = signals.stop();
  screen output(STDOUT_FILENO);
  screen errors(STDERR_FILENO);
  run_display display(has_text ? output : errors, look,
                      has_text || given.verbose ? shown : verbosity::quiet);
  how.on_event = [&](const run_event& event) { display.show(event); };
  if (is_live) how.tick = std::chrono::milliseconds(100);
  const run_report report = [&] {
    std::optional<keyboard> keys;
    if (is_live) {
      keys.emplace([&](char key) {
        if (key == 't') display.show_status();
      });
    }
    return run(chosen, how);
  }();

  output.show({}, look.columns);
  for (const std::string& warning : report.warnings) {
    errors.print("weft run: warning: " + base::printable(warning) + "\n");
  }
  report_to.write_files(report, summary(report, shown, 80));
  if (has_text && shown != verbosity::quiet) {
    output.print(summary(report, shown, standard_output().columns) + next_steps(given, report));
  }
  output.print(report_to.for_standard_output(report));
  static_cast<void>(errors.finish(signals.finish()));
  const bool is_written = output.finish(signals.finish()) != screen::outcome::failed;
  // With a terminal that has gone there is nobody left to tell.
  if (!is_written && report.record.ending != run_ending::interrupted) {
    throw refusal{exit_code::io_error,
                  "cannot write to standard output; --output FILE writes the report"};
  }
  return exit_status(report, signals.signal());
}

int run_command(const options& given) {
  // A reader that goes away, or a full disk, must not leave commands behind without a parent.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD,
              SIG_DFL);  // whoever started us may ignore it, and then no child has a status
  return guarded("run", [&] { return run_plan(given); });
}

constexpr const char* epilogue = R"(A plan is a TOML file:
  [plan]
  name = "validate"
  cwd = "../.."               # where rules happen, if not beside the file
  [[batch]]
  id = "structure"
  [[rule]]
  id = "AR002"
  batch = "structure"
  after = ["AR001"]           # rules or batches
  command = ["./check.sh"]    # or shell, or check = { exists = "LICENSE" }
  timeout = "30s"
With - as the plan, each line of standard input is a command.

Rules begin as soon as what they come after has passed, the one with the most
behind it first, by what rules took in earlier runs (.weft/profiles.json).
.weft/runs has a log of every run.

A report of another format than text is all that standard output gets, unless
--output names a file; with github, annotations follow the text. Names of files
in it start where rules happen, which should be the root of the repository.

Ctrl-C lets running rules end, a second one kills them; --resume goes on later.

Exit status: 0, 1 when a rule failed or was left out, 2 for wrong usage, 65 for
a bad plan, 66 for a missing one, 73 and 74 when writing fails, 75 when the run
still runs, 77 without permission, 130 when interrupted.)";

void add_selection(CLI::App& command, options& given) {
  // A run that goes on has its rules already.
  CLI::Option* const resume =
      command.add_flag("--resume", given.resume, "Go on with the last run, which was interrupted");
  command.add_flag("--rerun-failed", given.rerun_failed, "What did not pass in the last run")
      ->excludes(resume);
  command.add_option("--only", given.wanted.only, "Rules that match, and what they come after")
      ->option_text("GLOB")
      ->excludes(resume);
  command.add_option("--skip", given.wanted.skip, "Not the rules that match")
      ->option_text("GLOB")
      ->excludes(resume);
  command.add_option("--tag", given.wanted.tags, "Rules with this tag, and what they come after")
      ->option_text("TAG")
      ->excludes(resume);
  command.add_option("--shard", given.shard, "Part I of N of the rules, balanced by cost")
      ->option_text("I/N")
      ->check(shard())
      ->excludes(resume);
}

void add_scheduling(CLI::App& command, options& given) {
  command.add_option("--workers,-j", given.workers, "Rules that run at once")
      ->option_text("N [WEFT_WORKERS, or CPUs]")
      ->check(whole_number(1, static_cast<int>(workers_max)));
  command.add_option("--policy", given.policy, "Which ready rule goes first")
      ->option_text("critical-path|stealing|largest-first|fifo [critical-path]")
      ->check(CLI::IsMember({"critical-path", "stealing", "largest-first", "fifo"}));
  CLI::Option* const barriers = command.add_flag(
      "--barriers", given.barriers, "One batch after another, with workers by its size");
  command.add_flag("--fixed", given.fixed, "With --barriers: all workers for every batch")
      ->needs(barriers);
  CLI::Option* const fail_fast =
      command.add_flag("--fail-fast", given.fail_fast, "Begin nothing after a failure");
  command
      .add_flag("--keep-going", given.keep_going, "Run what does not depend on it (the default)")
      ->excludes(fail_fast);
  command.add_option("--timeout", given.timeout, "Stop everything after so long")
      ->option_text("DURATION")
      ->check(duration());
  command.add_option("--load", given.load, "Begin nothing while so many threads want a CPU")
      ->option_text("L")
      ->check(decimal());
  command.add_option("--memory", given.memory, "What running rules may need together")
      ->option_text("SIZE [9/10 of what is free]")
      ->check(size_in_bytes());
}

void add_files(CLI::App& command, options& given) {
  CLI::Option* const none =
      command.add_flag("--no-profiling", given.no_profiling, "Neither use nor keep learned costs");
  command.add_option("--profiles", given.profiles, "Where learned costs are")
      ->option_text("FILE [.weft/profiles.json]");
  command.add_option("--learn", given.learn_into, "Where new ones are added, if elsewhere")
      ->option_text("FILE")
      ->excludes(none);
  command.add_option("--runs", given.runs, "Where the logs of runs are")
      ->option_text("DIRECTORY [.weft/runs]");
  command.add_option("--keep-runs", given.keep_runs, "How many logs are kept")
      ->option_text("N [20]")
      ->check(whole_number(1, 1'000'000));
  command.add_flag("--dry-run", given.dry_run, "Show what would run, when, and for how long");
  add_output_options(command, given.report);
  CLI::Option* const quiet =
      command.add_flag("--quiet,-q", given.quiet, "Show nothing but failures");
  command.add_flag("-v,--verbose", given.verbose, "Show what every rule printed, and each batch")
      ->excludes(quiet);
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("run", "Run the rules of a plan, in parallel");
  command.add_option("PLAN", given->plan, "Plan to run; - takes commands from standard input")
      ->required()
      ->option_text(" ");
  add_scheduling(command, *given);
  add_selection(command, *given);
  add_files(command, *given);
  command.footer(epilogue);
  command.callback([given, &status] { status = run_command(*given); });
}

}  // namespace weft::cli
