#include <weft/batch/forecast.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <weft/batch/schedule.hpp>

namespace weft::batch {

std::vector<demand> demands_of(const plan& of) {
  std::vector<demand> demands;
  demands.reserve(of.rules().size());
  for (const rule& r : of.rules()) demands.push_back({.weight = r.weight, .memory = r.memory});
  return demands;
}

forecaster::forecaster(const graph& of, costs expected, std::vector<demand> demands,
                       const dispatch_options& options)
    : graph_(of), cost_(std::move(expected)), demands_(std::move(demands)), options_(options) {}

double forecaster::makespan(unsigned workers, const costs& cost) const {
  dispatch_options options = options_;
  options.workers = workers;
  return simulate(graph_, cost, cost, demands_, options).makespan;
}

lower_bound forecaster::bound_on(unsigned workers) const {
  std::vector<unsigned> weight;
  weight.reserve(demands_.size());
  for (const demand& each : demands_) weight.push_back(each.weight);
  return bound_of(graph_, cost_, weight, workers);
}

forecast forecaster::on(unsigned workers) const {
  const lower_bound bound = bound_on(workers);
  forecast made{.workers = workers, .makespan = makespan(workers, cost_)};
  made.lower_bound = bound.total();
  if (made.makespan > 0) made.utilisation = 100 * bound.work_per_worker / made.makespan;
  return made;
}

std::vector<unsigned> forecaster::worthwhile_workers(unsigned most) const {
  std::vector<unsigned> counts = {1};
  double before = makespan(1, cost_);
  while (counts.back() <= most / 2) {
    const unsigned next = counts.back() * 2;
    const double now = makespan(next, cost_);
    if (now >= 0.99 * before) break;
    counts.push_back(next);
    before = now;
  }
  return counts;
}

std::vector<forecaster::saving> forecaster::worth_making_faster(unsigned workers,
                                                                std::size_t count) const {
  // Only what is on the critical path, or long, can matter; each is tried.
  constexpr std::size_t tried_max = 64;
  std::vector<node> tried = bound_on(workers).path;
  std::vector<node> by_cost(graph_.rule_count());
  std::iota(by_cost.begin(), by_cost.end(), node{0});
  std::ranges::stable_sort(by_cost, std::ranges::greater(), [&](node n) { return cost_[n]; });
  tried.insert(tried.end(), by_cost.begin(),
               by_cost.begin() + static_cast<std::ptrdiff_t>(std::min(tried_max, by_cost.size())));
  std::ranges::sort(tried);
  const auto repeated = std::ranges::unique(tried);
  tried.erase(repeated.begin(), repeated.end());
  std::ranges::stable_sort(tried, std::ranges::greater(), [&](node n) { return cost_[n]; });
  if (tried.size() > tried_max) tried.resize(tried_max);

  const double now = makespan(workers, cost_);
  std::vector<saving> savings;
  for (const node rule : tried) {
    costs changed = cost_;
    changed[rule] /= 2;
    const double saved = now - makespan(workers, changed);
    if (saved > 0.001 * now) savings.push_back({rule, saved});
  }
  std::ranges::stable_sort(savings, std::ranges::greater(), &saving::seconds);
  if (savings.size() > count) savings.resize(count);
  return savings;
}

}  // namespace weft::batch
