#include <cstdio>

#include <weft/batch/runner.hpp>

int main() {
  weft::plan p;
  p.add({.id = "function", .run = [] { return true; }});
  p.add({.id = "command", .after = {"function"}, .command = {"true"}});
  p.add({.id = "check", .check = weft::batch::matches{"x", "/nothing/*.txt"}});
  const weft::run_report report = weft::run(p, {.workers = 2});
  std::printf("%zu passed, %zu failed\n", report.passed_count, report.failed_count);
}
