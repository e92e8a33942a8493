// Rules of a millisecond of computing, with and without what is remembered about them: profiles
// and the event log. The same process does both in turn, as the speed of the machine changes.

#include <algorithm>
#include <string>
#include <vector>

#include <weft/batch/runner.hpp>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/spin.hpp"
#include "../../support/temporary_directory.hpp"

namespace {

// The whole call: profiles are read before the rules run and written after them.
double seconds_of_run(const weft::plan& plan, const weft::run_options& how) {
  const auto begin = bench::now_ns();
  const weft::run_report report = weft::run(plan, how);
  const auto taken_ns = bench::now_ns() - begin;
  if (!report.passed()) bench::fail("profiling: a rule did not pass");
  return static_cast<double>(taken_ns) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const bench::temporary_directory directory;
  const auto workers = static_cast<unsigned>(options.threads);
  const weft::run_options without{.workers = workers};
  const weft::run_options with{.workers = workers,
                               .profiles = directory.file("profiles.json"),
                               .log_directory = directory.file("runs")};
  weft::plan plan;
  const auto rounds = bench::rounds_for_us(options, 1000);
  for (int i = 0; i < (options.quick ? 2'000 : 10'000); ++i) {
    plan.add({.id = "r" + std::to_string(i), .run = [rounds] { bench::spin_rounds(rounds); }});
  }
  std::vector<double> without_s;
  std::vector<double> with_s;
  // Before and after in turn: a machine that gets slower would otherwise count against one side.
  for (int round = 0; round < 2; ++round) {
    if (round % 2 == 0) without_s.push_back(seconds_of_run(plan, without));
    with_s.push_back(seconds_of_run(plan, with));
    if (round % 2 != 0) without_s.push_back(seconds_of_run(plan, without));
  }
  const double least_without = std::ranges::min(without_s);
  bench::emit("without", "s", least_without);
  bench::emit("with", "s", std::ranges::min(with_s));
  bench::emit("overhead", "%", (std::ranges::min(with_s) / least_without - 1) * 100);
}
