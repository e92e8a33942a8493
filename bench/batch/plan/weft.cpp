// A plan of many rules, each after the one before: making it and checking it.

#include <string>

#include <weft/batch/graph.hpp>
#include <weft/batch/plan.hpp>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/process.hpp"
#include "../../support/report.hpp"

namespace {

weft::plan chain(std::size_t count) {
  weft::plan plan;
  for (std::size_t i = 0; i < count; ++i) {
    weft::rule rule{.id = "r" + std::to_string(i), .command = {"/bin/true"}};
    if (i > 0) rule.after.push_back("r" + std::to_string(i - 1));
    plan.add(std::move(rule));
  }
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const std::size_t rules = options.quick ? 10'000 : 100'000;
  // The first in this process: what an earlier one has freed would not be seen to grow.
  const long before_kb = bench::resident_kb();
  const auto begin = bench::now_ns();
  const weft::plan plan = chain(rules);
  const weft::batch::graph graph(plan);
  const auto taken_ns = bench::now_ns() - begin;
  const long after_kb = bench::resident_kb();
  if (graph.order().size() < rules) bench::fail("plan: rules are missing");
  bench::emit("time", "s", static_cast<double>(taken_ns) / 1e9);
  bench::emit("memory", "B/rule",
              static_cast<double>(after_kb - before_kb) * 1024 / static_cast<double>(rules));
}
