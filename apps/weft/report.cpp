#include "report.hpp"

#include <iostream>
#include <memory>
#include <string>

#include <weft/batch/report.hpp>

#include "find_run.hpp"
#include "refusal.hpp"
#include "run_summary.hpp"

namespace weft::cli {
namespace {

struct options {
  std::string run;
  std::string runs = default_runs;
};

int report_run(const options& given) {
  const run_report report = make_report(must(find_run(given.run, given.runs)).record);
  std::cout << summary(report, verbosity::normal);
  return exit_code::ok;
}

constexpr const char* epilogue =
    R"(RUN is a log, the id of a run, or the beginning of one; without it, the newest.

Exit status: 0, 2 for wrong usage, 65 for a file that is no log of a run or is
of a newer version, 66 for a run that is not there.)";

}  // namespace

void add_report(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("report", "Show what happened in a run");
  command.add_option("RUN", given->run, "Run to report on")->option_text("[newest]");
  command.add_option("--runs", given->runs, "Where the logs of runs are")
      ->option_text("DIRECTORY [.weft/runs]");
  command.footer(epilogue);
  command.callback(
      [given, &status] { status = guarded("report", [&] { return report_run(*given); }); });
}

}  // namespace weft::cli
