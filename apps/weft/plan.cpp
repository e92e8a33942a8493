#include "plan.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>
#include <weft/batch/forecast.hpp>
#include <weft/batch/runner.hpp>
#include <weft/batch/select.hpp>

#include "arguments.hpp"
#include "named_plan.hpp"
#include "refusal.hpp"
#include "show.hpp"
#include "terminal.hpp"

namespace weft::cli {
namespace {

struct options {
  std::string plan;
  std::vector<unsigned> workers;
  std::string profiles = ".weft/profiles.json";
  std::string format = "text";
};

// What is to be told about a plan.
struct outlook {
  const plan& what;
  const batch::costs& cost;
  std::size_t guesses = 0;  // of how many rules nothing is known
  std::vector<batch::forecast> forecasts = {};
  unsigned workers = 1;  // what the rest is about
  batch::lower_bound bound = {};
  std::vector<batch::forecaster::saving> savings = {};

  [[nodiscard]] std::string id(batch::node rule) const {
    return base::printable(what.rules()[rule].id);
  }
};

std::string table(const outlook& of) {
  std::string text = formatted("%7s  %10s  %11s  %11s  %7s\n", "Workers", "Time", "Lower bound",
                               "Utilisation", "Speedup");
  const double alone = of.forecasts.empty()
                           ? 0
                           : of.forecasts.front().utilisation / 100 *
                                 of.forecasts.front().makespan * of.forecasts.front().workers;
  for (const batch::forecast& each : of.forecasts) {
    text +=
        formatted("%7u  %10s  %11s  %9.1f %%  %5.2f x\n", each.workers,
                  format_duration(each.makespan).c_str(), format_duration(each.lower_bound).c_str(),
                  each.utilisation, each.makespan > 0 ? alone / each.makespan : 1.0);
  }
  return text;
}

std::string critical_path(const outlook& of, const terminal& look) {
  constexpr std::size_t shown_max = 12;
  const std::vector<batch::node>& path = of.bound.path;
  std::string text =
      wrapped("Critical path: " + format_duration(of.bound.critical_path) + ", " +
                  (path.size() == 1 ? "the longest rule"
                                    : counted(path.size(), "rule") + " after each other") +
                  "; no number of workers is faster",
              look.columns, 2) +
      "\n";
  for (std::size_t i = 0; i < std::min(path.size(), shown_max); ++i) {
    text += formatted("%10s  ", format_duration(of.cost[path[i]]).c_str()) + of.id(path[i]) + "\n";
  }
  if (path.size() > shown_max) {
    text += "            and " + std::to_string(path.size() - shown_max) + " more\n";
  }
  return text;
}

std::string advice(const outlook& of, const terminal& look) {
  const std::string on = " on " + counted(of.workers, "worker");
  if (of.savings.empty()) {
    return wrapped("No single rule is worth making faster" + on + ": the work is spread evenly.",
                   look.columns, 2) +
           "\n";
  }
  std::string text =
      wrapped("Worth making faster" + on + ": twice as fast, it would save", look.columns, 2) +
      "\n";
  for (const auto& saving : of.savings) {
    text += formatted("%10s  ", format_duration(saving.seconds).c_str()) + of.id(saving.rule) +
            ", which takes " + format_duration(of.cost[saving.rule]) + "\n";
  }
  return text;
}

std::string as_text(const outlook& of, const terminal& look) {
  std::string text = wrapped(base::printable(of.what.name()) + ": " +
                                 counted(of.what.rules().size(), "rule") + ", expected to take",
                             look.columns, 2) +
                     "\n";
  if (of.what.rules().empty()) return text + "Nothing to do.\n";
  if (of.guesses > 0) {
    text += wrapped("Of " + counted(of.guesses, "rule") +
                        " nothing is known: a guess, until weft run has seen it",
                    look.columns, 2) +
            "\n";
  }
  text += "\n" + table(of);
  if (!of.bound.path.empty()) text += "\n" + critical_path(of, look);
  return text + "\n" + advice(of, look);
}

std::string as_json(const outlook& of) {
  using json = nlohmann::ordered_json;
  json made = {
      {"name", of.what.name()}, {"rules", of.what.rules().size()}, {"guesses", of.guesses}};
  made["forecasts"] = json::array();
  for (const batch::forecast& each : of.forecasts) {
    made["forecasts"].push_back({{"workers", each.workers},
                                 {"predicted_time", each.makespan},
                                 {"lower_bound", each.lower_bound},
                                 {"utilization", each.utilisation}});
  }
  json path = json::array();
  for (const batch::node rule : of.bound.path) path.push_back(of.what.rules()[rule].id);
  made["critical_path"] = {{"seconds", of.bound.critical_path}, {"rules", std::move(path)}};
  made["worth_making_faster"] = json::array();
  for (const auto& saving : of.savings) {
    made["worth_making_faster"].push_back({{"rule", of.what.rules()[saving.rule].id},
                                           {"predicted", of.cost[saving.rule]},
                                           {"saves", saving.seconds},
                                           {"workers", of.workers}});
  }
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

int plan_ahead(const options& given) {
  const plan what = must_load_plan(given.plan);
  const batch::graph shape(what);
  const batch::expectation known = batch::expect(what, given.profiles);
  if (!known.problem.empty()) {
    std::cerr << "weft plan: warning: without learned costs: " << known.problem << '\n';
  }
  const batch::costs& cost = known.seconds;
  const batch::forecaster expected(shape, cost, batch::demands_of(what), {});
  outlook of{.what = what, .cost = cost};
  of.guesses = static_cast<std::size_t>(std::ranges::count(known.sources, cost_source::guess));
  std::vector<unsigned> counts = given.workers;
  of.workers = counts.empty() ? default_workers() : counts.back();
  if (counts.empty()) {
    counts = expected.worthwhile_workers(workers_max);
    counts.push_back(of.workers);
    std::ranges::sort(counts);
    counts.erase(std::ranges::unique(counts).begin(), counts.end());
  }
  for (const unsigned workers : counts) of.forecasts.push_back(expected.on(workers));
  of.bound = expected.bound_on(of.workers);
  of.savings = expected.worth_making_faster(of.workers, 3);
  std::cout << (given.format == "json" ? as_json(of) : as_text(of, standard_output()));
  return exit_code::ok;
}

constexpr const char* epilogue =
    R"(Nothing runs: the times are those of earlier runs (.weft/profiles.json), else
hints of the plan, else of similar rules, else a guess of 10 ms, of which it is
said how many there are; weft run PLAN --dry-run shows the schedule.
Without -j: as many workers as pay, and what this machine has.

Exit status: 0, 2 for wrong usage, 65 for a bad plan, 66 for a missing one.)";

}  // namespace

void add_plan(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("plan", "Predict how long a plan will take");
  command.add_option("PLAN", given->plan, "Plan to look at; - takes commands from input")
      ->required()
      ->option_text(" ");
  command.add_option("--workers,-j", given->workers, "On so many workers; several to compare")
      ->option_text("N...")
      ->delimiter(',')
      ->check(whole_number(1, static_cast<int>(workers_max)));
  command.add_option("--profiles", given->profiles, "Where learned costs are")
      ->option_text("FILE [.weft/profiles.json]");
  command.add_option("--format", given->format, "How to say it")
      ->option_text("text|json [text]")
      ->check(CLI::IsMember({"text", "json"}));
  command.footer(epilogue);
  command.callback(
      [given, &status] { status = guarded("plan", [&] { return plan_ahead(*given); }); });
}

}  // namespace weft::cli
