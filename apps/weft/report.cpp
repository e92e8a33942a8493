#include "report.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <weft/base/utf8.hpp>
#include <weft/batch/benchmark.hpp>
#include <weft/batch/history.hpp>
#include <weft/batch/html_report.hpp>
#include <weft/batch/report.hpp>

#include "find_run.hpp"
#include "refusal.hpp"
#include "report_output.hpp"
#include "run_charts.hpp"
#include "run_summary.hpp"

namespace weft::cli {
namespace {

struct options {
  std::string run;
  std::string runs = default_runs;
  output_options report;
  bool utilization = false;
  bool stealing = false;
  bool efficiency = false;
  bool timeline = false;
  bool comparison = false;
  bool all = false;
  std::string benchmark;
  std::string html;

  [[nodiscard]] bool names_sections() const {
    return utilization || stealing || efficiency || timeline || comparison;
  }
};

// What the user did not ask for by name is the summary, and where the time went.
std::string describe(const options& given, const run_report& report,
                     const std::optional<batch::benchmark_result>& measured, const terminal& look) {
  if (report.total_rules == 0) return summary(report, verbosity::normal, look.columns).substr(1);
  const bool chosen = given.names_sections();
  std::string text;
  const auto add = [&](bool wanted, auto section) {
    if (wanted) text += (text.empty() ? "" : "\n") + section();
  };
  add(given.all || !chosen,
      [&] { return summary(report, verbosity::normal, look.columns).substr(1); });
  add(given.all || !chosen || given.timeline, [&] { return timeline_chart(report, look); });
  add(given.all || !chosen || given.efficiency, [&] { return efficiency_chart(report, look); });
  add(given.all || given.utilization, [&] { return utilization_chart(report, look); });
  add(given.all || given.stealing, [&] { return stealing_chart(report, look); });
  add(given.all || given.comparison || measured,
      [&] { return comparison_chart(report, measured, look); });
  return text;
}

int report_run(const options& given) {
  if (given.report.format != "text" && (given.all || given.names_sections())) {
    throw refusal{exit_code::usage, "--format " + given.report.format +
                                        " has everything in it; leave out what chooses parts"};
  }
  expect_different({{"RUN", given.run},
                    {"--benchmark", given.benchmark},
                    {"--output", given.report.output},
                    {"--trace", given.report.trace},
                    {"--html", given.html}});
  const batch::logged_run logged = must(find_run(given.run, given.runs));
  const run_report report = make_report(logged.record);
  if (!logged.has_whole_plan) {
    std::cerr << "weft report: the log ends within the plan: "
                 "nothing had begun, and rules may be missing\n";
  }
  std::optional<batch::benchmark_result> measured;
  if (!given.benchmark.empty()) measured = must(batch::read_benchmark(given.benchmark));
  report_output output(given.report);
  report_file page("--html", given.html);
  if (page.is_wanted()) {
    page.write(batch::to_html(
        report, {.past = batch::read_history(given.runs, report.record), .benchmark = measured}));
    std::cerr << "Written to " << base::printable(given.html) << "; open it in a browser\n";
  }
  output.write_files(report, describe(given, report, measured, {}));
  if (output.has_trace()) {
    std::cerr << "Written to " << base::printable(given.report.trace)
              << "; open it at https://ui.perfetto.dev\n";
  }
  if (output.has_file()) return exit_code::ok;
  // Who wants a page or a trace and says nothing else wants nothing else.
  const bool says_more = given.all || given.names_sections() || given.report.format != "text";
  if ((page.is_wanted() || output.has_trace()) && !says_more) return exit_code::ok;
  if (!output.replaces_text()) {
    std::cout << describe(given, report, measured, standard_output());
  }
  std::cout << output.for_standard_output(report);
  return exit_code::ok;
}

constexpr const char* epilogue =
    R"(RUN is a log, the id of a run, or the beginning of one; without it, the newest.
Without options: the summary, the timeline, and where the time went.

Exit status: 0, 2 for wrong usage, 65 for a file that is no log of a run or is
of a newer version, 66 for a run that is not there, 73 and 77 when a file cannot
be written.)";

}  // namespace

void add_report(CLI::App& app, int& status) {
  const auto given = std::make_shared<options>();
  CLI::App& command = *app.add_subcommand("report", "Show what happened in a run");
  command.add_option("RUN", given->run, "Run to report on")->option_text("[newest]");
  command.add_option("--runs", given->runs, "Where the logs of runs are")
      ->option_text("DIRECTORY [.weft/runs]");
  command.add_flag("--timeline", given->timeline, "What each worker did when");
  command.add_flag("--efficiency", given->efficiency, "Where the time above the bound went");
  command.add_flag("--utilization", given->utilization, "How busy each worker was");
  command.add_flag("--stealing", given->stealing, "Who stole from whom");
  command.add_flag("--comparison", given->comparison, "What other policies would have taken");
  command.add_flag("--all", given->all, "All of these");
  command.add_option("--benchmark", given->benchmark, "Times of weft bench, to compare with")
      ->option_text("FILE");
  command.add_option("--html", given->html, "Write a page for the browser, in one file")
      ->option_text("FILE");
  add_output_options(command, given->report);
  command.footer(epilogue);
  command.callback(
      [given, &status] { status = guarded("report", [&] { return report_run(*given); }); });
}

}  // namespace weft::cli
