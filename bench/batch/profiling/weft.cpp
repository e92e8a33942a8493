// Rules of a millisecond of computing, with and without what is remembered about them: profiles
// and the event log. The same process does both in turn, as the speed of the machine changes.

#include <algorithm>
#include <string>

#include <weft/batch/runner.hpp>

#include "../../support/clock.hpp"
#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/spin.hpp"
#include "../../support/temporary_directory.hpp"

namespace {

struct cost {
  double seconds;
  double cpu_seconds;
};

// The whole call: profiles are read before the rules run and written after them.
cost cost_of_run(const weft::plan& plan, const weft::run_options& how) {
  const auto begin = bench::now_ns();
  const auto cpu_begin = bench::process_cpu_ns();
  const weft::run_report report = weft::run(plan, how);
  const cost taken{.seconds = static_cast<double>(bench::now_ns() - begin) / 1e9,
                   .cpu_seconds = static_cast<double>(bench::process_cpu_ns() - cpu_begin) / 1e9};
  if (!report.passed()) bench::fail("profiling: a rule did not pass");
  return taken;
}

double overhead(double with, double without) { return (with / without - 1) * 100; }

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
  // Without, with, with, without: a machine that gets slower counts against neither.
  const cost first = cost_of_run(plan, without);
  const cost second = cost_of_run(plan, with);
  const cost third = cost_of_run(plan, with);
  const cost fourth = cost_of_run(plan, without);
  const double without_s = std::min(first.seconds, fourth.seconds);
  const double with_s = std::min(second.seconds, third.seconds);
  bench::emit("without", "s", without_s);
  bench::emit("with", "s", with_s);
  bench::emit("overhead", "%", overhead(with_s, without_s));
  // Steadier where others use the machine, too; what waits for the disk is not in it.
  bench::emit("cpu_overhead", "%",
              overhead(std::min(second.cpu_seconds, third.cpu_seconds),
                       std::min(first.cpu_seconds, fourth.cpu_seconds)));
}
