// How much of the workers' time goes into the jobs: sum of job durations / (workers x makespan),
// for 2,000 jobs of about 100 us. Fails below 0.95 in the best of three runs: a machine that is
// busy with something else lowers single runs, a scheduler that loses time lowers all of them.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

void spin_for(std::chrono::nanoseconds time) {
  const auto end = clock_type::now() + time;
  while (clock_type::now() < end) {
  }
}

double utilisation(weft::pool& pool) {
  constexpr int jobs = 2000;
  std::vector<std::chrono::nanoseconds> durations(jobs);
  const auto start = clock_type::now();
  pool.run([&] {
    weft::task_group group;
    for (auto& duration : durations) {
      group.spawn([&duration] {
        const auto begin = clock_type::now();
        spin_for(std::chrono::microseconds(100));
        duration = clock_type::now() - begin;
      });
    }
    group.wait();
  });
  const std::chrono::duration<double> makespan = clock_type::now() - start;
  std::chrono::duration<double> busy{0};
  for (const auto d : durations) busy += d;
  return busy.count() / (makespan.count() * pool.workers());
}

}  // namespace

int main() {
  weft::pool pool;
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double u = utilisation(pool);
    std::printf("utilisation with %u workers: %.4f\n", pool.workers(), u);
    best = std::max(best, u);
  }
  constexpr double least = 0.95;
  if (best >= least) return 0;
  std::printf("best of three %.4f is below %.2f: workers lose time between jobs\n", best, least);
  return 1;
}
