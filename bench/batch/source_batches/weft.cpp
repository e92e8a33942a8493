// The 384 rules of the validator from which the idea of batches comes, asleep instead of at work,
// under one way to schedule them.

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include <weft/batch/runner.hpp>

#include "../../../tests/batch/plans.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/rounds.hpp"

namespace {

struct scheme {
  std::string_view name;
  weft::run_policy policy;
  bool barriers;
  bool fixed;
};
constexpr std::array schemes{
    scheme{"fifo", weft::run_policy::fifo, true, true},
    scheme{"fifo_table", weft::run_policy::fifo, true, false},
    scheme{"largest_first", weft::run_policy::largest_first, true, true},
    scheme{"stealing", weft::run_policy::stealing, true, false},
    scheme{"critical_path", weft::run_policy::critical_path, false, false}};

// Rules of 12 ms in the median: a run takes about a second.
constexpr double scale = 0.1;
constexpr std::size_t parents = 3;
constexpr double sigma = 1.0;

weft::plan sleeping_plan(std::uint64_t seed) {
  const auto made = weft::test::make_layered(weft::test::source_batches, parents, sigma, seed);
  weft::plan plan;
  for (const weft::batch_info& batch : made.plan.batches()) plan.add_batch(batch);
  for (std::size_t i = 0; i < made.cost.size(); ++i) {
    weft::rule rule = made.plan.rules()[i];
    const auto length = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(made.cost[i] * scale));
    rule.shell.clear();
    rule.run = [length] { std::this_thread::sleep_for(length); };
    rule.cost = length;
    plan.add(std::move(rule));
  }
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const scheme chosen = bench::chosen_instance(options, schemes);
  const std::uint64_t seeds = options.quick ? 3 : 20;
  double ms = 0;
  double utilisation = 0;
  double gap = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const weft::run_report report =
        weft::run(sleeping_plan(seed), {.workers = static_cast<unsigned>(options.threads),
                                        .policy = chosen.policy,
                                        .barriers = chosen.barriers,
                                        .fixed = chosen.fixed});
    if (!report.passed()) bench::fail("source_batches: a rule did not pass");
    ms += report.total_time * 1e3;
    utilisation += report.avg_worker_utilization;
    gap += report.gap;
  }
  const auto count = static_cast<double>(seeds);
  bench::emit("time", "ms", ms / count);
  bench::emit("utilisation", "%", utilisation / count);
  bench::emit("gap", "x", gap / count);
}
