// A pool changes its size while it works, and tells what it is doing.
//
// What varies from run to run, the dump, goes to the error stream.

#include <barrier>
#include <cstdio>
#include <latch>

#include <weft/weft.hpp>

namespace {

// Returns when `count` jobs were running at one moment.
void meet(weft::pool& pool, int count) {
  std::barrier all(count);
  weft::task_group group(pool);
  for (int i = 0; i < count; ++i) group.spawn([&all] { all.arrive_and_wait(); });
  group.wait();
  std::printf("%d jobs ran at once on %u workers\n", count, pool.workers());
}

}  // namespace

int main() {
  weft::pool pool({.workers = 2, .max_workers = 4, .name = "elastic"});
  meet(pool, 2);

  // Larger while jobs are running: two are held, and there is room for two more.
  std::latch held(2);
  std::latch release(1);
  for (int i = 0; i < 2; ++i) {
    pool.spawn([&] {
      held.count_down();
      release.wait();
    });
  }
  held.wait();
  std::printf("idle workers: %zu\n", pool.stats().idle_workers);
  pool.resize(4);
  meet(pool, 2);
  std::fputs(pool.dump().c_str(), stderr);

  // Smaller: nobody is interrupted, workers leave when their jobs are done, nothing is lost.
  pool.resize(1);
  release.count_down();
  for (int i = 0; i < 1000; ++i) pool.spawn([] {});
  pool.shutdown();

  const weft::pool_stats stats = pool.stats();
  std::printf("spawned %llu, executed %llu, queued %zu\n",
              static_cast<unsigned long long>(stats.spawned),
              static_cast<unsigned long long>(stats.executed), stats.queue_depth);
  std::printf("threads made: %zu\n", stats.per_worker.size());
}
