// make_reports DIRECTORY: writes the reports that report_test.mjs opens.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <weft/batch/html_report.hpp>

#include <batch/made_runs.hpp>

namespace weft {
namespace {

batch::benchmark_result measured(const run_record& record) {
  batch::benchmark_result made;
  for (const batch::variant& how : batch::all_variants(record)) {
    batch::measured_variant one;
    one.how = how;
    one.simulated = batch::replay(record, how);
    one.times = {1.02 * one.simulated, 1.05 * one.simulated, 1.1 * one.simulated};
    one.time = batch::mean_of(one.times);
    made.variants.push_back(std::move(one));
  }
  return made;
}

run_record demo() {
  run_record record = test::make_run();
  test::break_rules(record);
  return record;
}

run_record hostile() {
  const std::string attack = "</script><img src=x onerror=alert(1)>";
  const std::string others[] = {attack, "<!--<script>alert(1)//", "\"'><svg onload=alert(1)>",
                                "\u202egnp.exe", "\x1b[31mred\x07"};
  run_record record = test::make_run({.batches = {std::size(others)}, .workers = 2});
  record.plan = attack;
  record.batches[0].name = attack;
  for (std::size_t i = 0; i < std::size(others); ++i) {
    rule_record& rule = record.rules[i];
    if (i < 3) rule.id = others[i];
    rule.name = rule.message = rule.output = others[i];
    rule.status = rule_status::failed;
  }
  return record;
}

run_record empty() {
  run_record record{.id = "empty", .plan = "empty"};
  record.ending = run_ending::complete;
  return record;
}

run_record nothing_began() {
  run_record record = test::make_run({.batches = {5}, .workers = 2});
  record.elapsed = 0;
  record.ending = run_ending::interrupted;
  for (rule_record& rule : record.rules) {
    rule = {.id = rule.id, .batch = rule.batch, .predicted = rule.predicted};
  }
  return record;
}

run_record cut_off() {
  run_record record = test::make_run({.policy = run_policy::critical_path});
  record.elapsed /= 2;
  record.ending = run_ending::none;
  for (rule_record& rule : record.rules) {
    if (rule.end() <= record.elapsed) continue;
    rule = {.id = rule.id, .batch = rule.batch, .after = rule.after, .predicted = rule.predicted};
  }
  return record;
}

run_record heavy() {
  run_record record = test::make_run({.batches = {1}, .workers = 2});
  record.rules[0].weight = 2;
  return record;
}

run_record ten_thousand() {
  run_record record =
      test::make_run({.batches = {1000, 2000, 3000, 4000}, .parents = 3, .workers = 32});
  test::break_rules(record);
  return record;
}

void write(const std::string& directory, const std::string& name, const run_record& record,
           const batch::html_options& options = {}) {
  std::ofstream file(directory + "/" + name + ".html", std::ios::binary);
  file << batch::to_html(make_report(record), options);
  file.flush();
  if (file) return;
  std::cerr << "make_reports: cannot write " << directory << "/" << name << ".html\n";
  std::exit(EXIT_FAILURE);
}

void write_all(const std::string& directory) {
  write(directory, "demo", demo(),
        {.past = test::make_history(demo(), 8), .benchmark = measured(demo())});
  write(directory, "hostile", hostile());
  write(directory, "empty", empty());
  write(directory, "nothing_began", nothing_began());
  write(directory, "cut_off", cut_off());
  write(directory, "heavy", heavy());
  write(directory, "one_worker", test::make_run({.batches = {3, 4}, .workers = 1}));
  write(directory, "thousand_workers", test::make_run({.workers = 1024}));
  const run_record large = ten_thousand();
  write(directory, "ten_thousand", large, {.past = test::make_history(large, 20)});
}

}  // namespace
}  // namespace weft

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: make_reports DIRECTORY\n";
    return 2;
  }
  weft::write_all(arguments[1]);
}
