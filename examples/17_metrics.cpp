// What a program does, in the format that Prometheus reads.
//
// The whole scrape goes to the error stream; what is the same in every run is printed.

#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <weft/weft.hpp>

namespace {

// The lines of a scrape that are about one metric.
void print_metric(const std::string& scrape, std::string_view name) {
  std::istringstream lines(scrape);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(name) != std::string::npos) std::printf("%s\n", line.c_str());
  }
}

}  // namespace

int main() {
  // [main]
  weft::metrics metrics({.labels = {{.name = "region", .value = "north"}}});
  weft::pool pool({.workers = 2});
  const auto entry = metrics.add("main", pool);  // removed before the pool ends

  auto limits = metrics.add_policy("jobs");
  weft::health_zones policy({.min = 1, .max = 10});

  for (int i = 0; i < 1000; ++i) pool.spawn([] {});
  limits.record(policy.poll({.score = 20}, {}), 20);
  metrics.sample();  // on a timer: how long the queues are, how long a task waits for a worker
  pool.shutdown();

  const std::string scrape = metrics.text();  // the answer to GET /metrics
  // [/main]
  std::fputs(scrape.c_str(), stderr);
  print_metric(scrape, "weft_scheduler_tasks_completed_total");
  print_metric(scrape, "weft_scheduler_task_schedule_latency_seconds_count");
  print_metric(scrape, "weft_policy_limit");

  try {
    static_cast<void>(metrics.add("main", pool));
  } catch (const std::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
}
