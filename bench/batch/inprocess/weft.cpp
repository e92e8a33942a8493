// Rules that do nothing, so that what is left is what the runner does for each.

#include <string>
#include <vector>

#include <weft/batch/runner.hpp>

#include "../../support/options.hpp"
#include "../../support/report.hpp"
#include "../../support/temporary_directory.hpp"

namespace {

weft::plan empty_rules(std::size_t count) {
  weft::plan plan;
  for (std::size_t i = 0; i < count; ++i) {
    plan.add({.id = "r" + std::to_string(i), .run = [] {}});
  }
  return plan;
}

double us_per_rule(const weft::plan& plan, const weft::run_options& how) {
  const weft::run_report report = weft::run(plan, how);
  if (!report.passed()) bench::fail("inprocess: a rule did not pass");
  return report.total_time * 1e6 / static_cast<double>(report.total_rules);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = bench::parse(argc, argv);
  const bench::temporary_directory directory;
  const auto workers = static_cast<unsigned>(options.threads);
  const weft::run_options plain{.workers = workers};
  const weft::run_options logged{.workers = workers, .log_directory = directory.file("runs")};
  us_per_rule(empty_rules(10'000), plain);
  us_per_rule(empty_rules(10'000), logged);
  const weft::plan plan = empty_rules(options.quick ? 10'000 : 100'000);
  std::vector<double> plain_us;
  std::vector<double> logged_us;
  for (int round = 0; round < 3; ++round) {
    plain_us.push_back(us_per_rule(plan, plain));
    logged_us.push_back(us_per_rule(plan, logged));
  }
  bench::emit("plain", "us", plain_us);
  bench::emit("logged", "us", logged_us);
}
