#include "bench.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <weft/base/utf8.hpp>
#include <weft/batch/benchmark.hpp>
#include <weft/batch/dispatcher.hpp>
#include <weft/batch/forecast.hpp>
#include <weft/batch/graph.hpp>
#include <weft/batch/runner.hpp>
#include <weft/process/supervisor.hpp>

#include "arguments.hpp"
#include "interrupt.hpp"
#include "named_plan.hpp"
#include "refusal.hpp"
#include "show.hpp"
#include "terminal.hpp"

namespace weft::cli {
namespace {

struct options {
  std::string plan;
  unsigned runs = 3;
  unsigned workers = 0;
  bool cold_start = false;
  bool fixed_only = false;
  bool adaptive_only = false;
  std::vector<std::string> policies;
  std::string output = ".weft/bench.json";
};

std::vector<batch::variant> variants_of(const options& given, unsigned workers) {
  const std::string base = std::to_string(workers);
  std::vector<batch::variant> all;
  if (!given.adaptive_only) {
    all.push_back({.name = "Fixed (" + base + " workers)",
                   .mode = "fixed",
                   .policy = run_policy::fifo,
                   .barriers = true,
                   .fixed = true});
  }
  if (given.fixed_only) return all;
  all.push_back({.name = "Adaptive (" + base + " base) - Cold Start", .mode = "adaptive_cold"});
  if (!given.cold_start) {
    all.push_back({.name = "Adaptive (" + base + " base) - Warm Start", .mode = "adaptive_warm"});
  }
  for (const std::string& name : given.policies) {
    const run_policy policy = policy_named(name);
    if (policy == run_policy::critical_path) continue;  // that is what adaptive ones have
    all.push_back({.name = "Policy " + name,
                   .mode = given.cold_start ? "adaptive_cold" : "adaptive_warm",
                   .policy = policy});
  }
  return all;
}

// Rules may come after rules in a way that batches as a whole could not.
bool allows_barriers(const plan& what) {
  try {
    const batch::graph shape(what);
    const batch::dispatcher tried(shape, batch::costs(what.rules().size(), 0),
                                  batch::demands_of(what), {.barriers = true});
    return true;
  } catch (const plan_error&) {
    return false;
  }
}

// Errors: refusal, when there are none.
std::vector<batch::variant> possible_variants(const options& given, const plan& what,
                                              unsigned workers) {
  std::vector<batch::variant> all = variants_of(given, workers);
  if (given.adaptive_only || allows_barriers(what)) return all;
  const std::string why =
      "rules of two batches wait for each other, so that one batch cannot run "
      "after another";
  if (given.fixed_only) throw refusal{exit_code::bad_data, "--fixed-only: " + why};
  std::cerr << "weft bench: without Fixed: " << why << '\n';
  std::erase_if(all, [](const batch::variant& each) { return each.barriers; });
  return all;
}

// A file of learned costs for the time of this program.
class temporary_profiles {
 public:
  temporary_profiles() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw refusal{exit_code::cannot_create,
                    "cannot create " + name + ": " + std::generic_category().message(errno)};
    }
    directory_ = name;
  }
  ~temporary_profiles() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  temporary_profiles(const temporary_profiles&) = delete;
  temporary_profiles& operator=(const temporary_profiles&) = delete;
  [[nodiscard]] std::string path() const { return directory_ + "/profiles.json"; }

 private:
  std::string directory_;
};

// Runs the variants in turn.
class bench {
 public:
  bench(const plan& what, unsigned workers, interrupts& signals)
      : plan_(what), workers_(workers), signals_(signals) {}

  // A run that only teaches what rules cost. False when it was interrupted.
  bool warm_up() { return !is_interrupted(run_once({}, true, "warm-up")); }

  // False when it was interrupted: what there is then lacks a run of some variants.
  bool run_round(const std::vector<batch::variant>& variants, std::size_t round,
                 std::vector<std::vector<run_report>>& runs) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      // None is always the first, or the one after a slow one.
      const std::size_t v = (i + round) % variants.size();
      run_report report = run_once(variants[v], false, variants[v].name);
      if (is_interrupted(report)) return false;
      runs[v].push_back(std::move(report));
    }
    return true;
  }

  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  static bool is_interrupted(const run_report& report) {
    return report.record.ending == run_ending::interrupted;
  }

  run_report run_once(const batch::variant& how, bool teaches, const std::string& name) {
    run_options chosen;
    chosen.workers = workers_;
    chosen.policy = how.policy;
    chosen.barriers = how.barriers;
    chosen.fixed = how.fixed;
    chosen.finish = signals_.finish();
    chosen.stop = signals_.stop();
    if (teaches || how.mode == "adaptive_warm") chosen.profiles = profiles_.path();
    chosen.learn = teaches;
    run_report report = run(plan_, chosen);
    if (is_interrupted(report)) return report;
    failed_ = std::max(failed_, report.failed_count);
    std::cerr << formatted("%9.3f s  ", report.total_time) << name
              << (report.failed_count > 0 ? ": " + counted(report.failed_count, "rule") + " failed"
                                          : "")
              << '\n';
    return report;
  }

  const plan& plan_;
  unsigned workers_;
  interrupts& signals_;
  temporary_profiles profiles_;
  std::size_t failed_ = 0;
};

std::string plus_minus(const batch::interval& of) {
  if (!std::isfinite(of.high)) return formatted("%.3f s", of.mean);
  return formatted("%.3f s +- %.3f", of.mean, of.high - of.mean);
}

std::string table(const batch::benchmark_result& of) {
  std::size_t width = 4;
  for (const auto& each : of.variants) width = std::max(width, width_of(each.how.name));
  std::string text = fitted("Name", width) + formatted("  %18s  %9s  %6s  %6s\n", "Mean, 95 %",
                                                       "Simulated", "Util", "Steals");
  for (const auto& each : of.variants) {
    text += fitted(each.how.name, width) + formatted("  %18s  %7.3f s  %5.1f%%  %6zu\n",
                                                     plus_minus(each.time).c_str(), each.simulated,
                                                     each.typical.avg_worker_utilization,
                                                     each.typical.total_steals);
  }
  return text;
}

std::string verdicts(const batch::benchmark_result& of, const terminal& look) {
  std::string text;
  for (const batch::difference& each : of.differences) {
    std::string line = each.second + " against " + each.first + ": ";
    if (!std::isfinite(each.change.high)) {
      line += formatted("%+.1f %%, from one run: --runs 3 or more tells it from chance",
                        each.change.mean);
    } else if (each.is_significant()) {
      line += formatted("%+.1f %% (%+.1f to %+.1f)", each.change.mean, each.change.low,
                        each.change.high);
    } else {
      line += formatted("no significant difference (%+.1f to %+.1f %%)", each.change.low,
                        each.change.high);
    }
    text += wrapped(line, look.columns, 2) + "\n";
  }
  return text;
}

// Where the result goes. Whether that can be written is found out before anything runs; what the
// file had stays until there is something new.
class result_file {
 public:
  explicit result_file(std::string path) : path_(std::move(path)) {
    const std::filesystem::path file(path_);
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    require(std::ofstream(file, std::ios::binary | std::ios::app).good());
  }
  void write(const std::string& text) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    require(out.good());
  }

 private:
  void require(bool fine) const {
    if (fine) return;
    throw refusal{errno == EACCES ? exit_code::no_permission : exit_code::cannot_create,
                  "--output: cannot write " + base::printable(path_) + ": " +
                      std::generic_category().message(errno)};
  }

  std::string path_;
};

int bench_plan(const options& given) {
  const plan what = must_load_plan(given.plan);
  if (what.rules().empty()) {
    throw refusal{exit_code::bad_data,
                  base::printable(given.plan) + " has no rules: there is nothing to compare"};
  }
  const unsigned workers = given.workers == 0 ? default_workers() : given.workers;
  const std::vector<batch::variant> variants = possible_variants(given, what, workers);
  const result_file file(given.output);
  interrupts signals(true);
  static_cast<void>(process::become_subreaper());
  bench measured(what, workers, signals);
  const bool warms = std::ranges::any_of(
      variants, [](const batch::variant& each) { return each.mode == "adaptive_warm"; });
  std::vector<std::vector<run_report>> runs(variants.size());
  std::size_t rounds = 0;
  if (!warms || measured.warm_up()) {
    while (rounds < given.runs && measured.run_round(variants, rounds, runs)) ++rounds;
  }
  for (auto& of_variant : runs) of_variant.resize(rounds);
  if (rounds == 0) {
    throw refusal{exit_code::interrupted,
                  "interrupted before every variant had run once; nothing is written"};
  }
  const batch::benchmark_result result = batch::summarise(variants, std::move(runs));
  file.write(to_json(result));
  const terminal look = standard_output();
  std::cout << '\n'
            << base::printable(result.plan) << ": " << counted(what.rules().size(), "rule")
            << " on " << counted(workers, "worker") << ", " << counted(rounds, "round")
            << formatted("; lower bound %.3f s\n\n", result.lower_bound) << table(result) << '\n'
            << verdicts(result, look) << "\nWritten to " << base::printable(given.output)
            << "; to draw it:\n  weft report --comparison --benchmark "
            << base::printable(given.output) << '\n';
  if (rounds < given.runs) return exit_code::interrupted;
  return measured.failed() > 0 ? exit_code::failed : exit_code::ok;
}

constexpr const char* epilogue =
    R"(Every round runs each variant once, in an order that changes, so that what else
the machine does meets all of them. Fixed is one batch after another with all
workers; Cold Start knows nothing of what rules cost, Warm Start has seen a run.
A difference is said to be one when its 95 % interval, from the rounds, does not
contain zero. Simulated is what the same policy makes of the rules' usual times.

The rules run for real, once for each variant and round. Learned costs and logs
of your own runs are neither used nor changed.

Exit status: 0, 1 when a rule failed, 2 for wrong usage, 65 for a bad plan, 66
for a missing one, 73 and 77 when the result cannot be written, 130 when
interrupted, after the rounds that were complete are written.)";

}  // namespace

void add_bench(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("bench", "Compare ways to run a plan");
  command.add_option("PLAN", given->plan, "Plan to run; - takes commands from standard input")
      ->required()
      ->option_text(" ");
  command.add_option("--runs", given->runs, "How often each variant runs")
      ->option_text("N [3]")
      ->check(whole_number(1, 1000));
  command.add_option("--workers,-j", given->workers, "Rules that run at once")
      ->option_text("N [WEFT_WORKERS, or CPUs]")
      ->check(whole_number(1, static_cast<int>(workers_max)));
  command.add_flag("--cold-start", given->cold_start, "Without learned costs");
  CLI::Option* const fixed =
      command.add_flag("--fixed-only", given->fixed_only, "One batch after another alone");
  command.add_flag("--adaptive-only", given->adaptive_only, "Without that")->excludes(fixed);
  command.add_option("--policies", given->policies, "Others to compare with critical-path")
      ->option_text("stealing,largest-first,fifo")
      ->delimiter(',')
      ->check(CLI::IsMember({"critical-path", "stealing", "largest-first", "fifo"}))
      ->excludes(fixed);
  command.add_option("--output,-o", given->output, "Where the result is written, as JSON")
      ->option_text("FILE [.weft/bench.json]");
  command.footer(epilogue);
  command.callback([given, &status] {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);
    status = guarded("bench", [&] { return bench_plan(*given); });
  });
}

}  // namespace weft::cli
