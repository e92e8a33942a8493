#include "dry_run.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include <nlohmann/json.hpp>

#include <weft/base/units.hpp>
#include <weft/base/utf8.hpp>
#include <weft/batch/forecast.hpp>
#include <weft/batch/schedule.hpp>
#include <weft/batch/select.hpp>

#include "show.hpp"

namespace weft::cli {
namespace {

std::string as_text(const plan& p, const batch::schedule& s, const batch::costs& cost, double bound,
                    unsigned workers) {
  std::vector<std::size_t> order(p.rules().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return s.rules[i].start; });
  std::string text = "    start      takes  worker  rule\n";
  for (const std::size_t i : order) {
    char line[64];
    std::snprintf(line, sizeof line, "%9.3f  %9.3f  %6u  ", s.rules[i].start, cost[i],
                  s.rules[i].worker);
    text += line + base::printable(p.rules()[i].id) + "\n";
  }
  return text + "\n" + counted(p.rules().size(), "rule") + " on " + counted(workers, "worker") +
         " would take about " + format_duration(s.makespan) + "; no schedule takes less than " +
         format_duration(bound) + ".\n";
}

std::string json_of(const plan& p, const batch::schedule& s, const batch::costs& cost, double bound,
                    unsigned workers) {
  nlohmann::ordered_json made = {{"name", p.name()},
                                 {"workers", workers},
                                 {"predicted_time", s.makespan},
                                 {"lower_bound", bound},
                                 {"rules", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < p.rules().size(); ++i) {
    made["rules"].push_back({{"id", p.rules()[i].id},
                             {"start", s.rules[i].start},
                             {"predicted", cost[i]},
                             {"worker", s.rules[i].worker}});
  }
  return made.dump(2) + "\n";
}

}  // namespace

std::string describe_dry_run(const plan& p, const run_options& how, bool as_json) {
  const batch::graph shape(p);
  const batch::costs cost = batch::expected_costs(p, how.profiles);
  const unsigned workers = how.workers == 0 ? default_workers() : how.workers;
  const std::vector<batch::demand> demands = batch::demands_of(p);
  const batch::dispatch_options options{.workers = workers,
                                        .policy = how.policy,
                                        .barriers = how.barriers,
                                        .fixed = how.fixed,
                                        .memory = how.memory};
  const batch::schedule s = batch::simulate(shape, cost, cost, demands, options);
  const double bound = batch::forecaster(shape, cost, demands, options).bound_on(workers).total();
  return (as_json ? json_of : as_text)(p, s, cost, bound, workers);
}

}  // namespace weft::cli
