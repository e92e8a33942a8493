#include <cstdio>
#include <string>

#include <weft/core/pool.hpp>
#include <weft/metrics/metrics.hpp>

int main() {
  weft::metrics metrics;
  weft::pool pool({.workers = 2});
  const auto entry = metrics.add("main", pool);
  pool.submit([] {}).get();
  const bool counted = metrics.text().find(
                           "weft_scheduler_tasks_spawned_total{scheduler_name="
                           "\"main\"} 1\n") != std::string::npos;
  std::printf("%s\n", counted ? "counted" : "not counted");
}
