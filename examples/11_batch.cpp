// Rules with dependencies: what can run runs, costs are learned, and the report says how far from
// the best possible schedule the run was.

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <weft/weft.hpp>

int main() {
  // [main]
  weft::plan p("release");
  p.add({.id = "sources", .check = weft::batch::exists{"."}});
  p.add({.id = "lint", .after = {"sources"}, .run = [] { return true; }});
  p.add({.id = "build", .after = {"sources"}, .command = {"sh", "-c", "echo compiled"}});
  p.add({.id = "unit tests", .after = {"build"}, .run = [](weft::rule_context& rule) {
           // What a rule forks uses workers that are idle.
           const std::vector<long> ones(1000, 1);
           const long sum = weft::parallel_reduce(ones, 0L, std::plus<>{});
           rule.print("checked " + std::to_string(sum) + "\n");
           return sum == 1000 ? weft::pass() : weft::fail_rule("wrong sum");
         }});
  p.add({.id = "style",
         .after = {"lint"},
         .run = [] { return weft::fail_rule("two tabs"); },
         .severity = weft::severity::warn});
  p.add({.id = "package", .after = {"unit tests", "style"}, .shell = "test 1 = 2"});
  p.add({.id = "publish", .after = {"package"}, .run = [] {}});

  const weft::run_report report = weft::run(p, {.workers = 2});
  // [/main]
  for (const weft::rule_record& rule : report.record.rules) {
    const std::string status(name_of(rule.status));
    std::printf("%-7s  %s%s%s\n", status.c_str(), rule.id.c_str(), rule.message.empty() ? "" : ": ",
                rule.message.c_str());
  }
  std::printf("%zu passed, %zu failed, %zu skipped\n", report.passed_count, report.failed_count,
              report.skipped_count);
}
