// Stopping what runs, and dropping what has not begun. Cancellation is std::stop_token throughout.

#include <cstdio>
#include <latch>
#include <stop_token>

#include <weft/weft.hpp>

namespace {

// What a long job does between its steps, as one wait: returns when it was asked to stop.
void until_asked_to_stop(const std::stop_token& stop) {
  std::latch asked(1);
  const std::stop_callback tell(stop, [&asked] { asked.count_down(); });
  asked.wait();
}

}  // namespace

int main() {
  weft::pool pool({.workers = 1});

  // A callable whose first parameter is a stop_token receives one. What it returns after it was
  // asked to stop is its result all the same.
  std::latch started(1);
  weft::future<int> partial = pool.submit([&](const std::stop_token& stop) {
    started.count_down();
    until_asked_to_stop(stop);
    return 42;
  });
  started.wait();

  // The only worker is busy, so this job has not begun: it never will.
  weft::future<int> queued = pool.submit([] { return 1; });
  queued.request_stop();
  try {
    std::printf("%d\n", queued.get());
  } catch (const weft::cancelled& e) {
    std::printf("%s\n", e.what());
  }

  partial.request_stop();
  std::printf("asked while it ran, and returned %d\n", partial.get());

  // A group stops as one. The job that runs is asked, the nine behind it are dropped.
  std::latch first(1);
  int begun = 0;
  weft::task_group group(pool);
  for (int i = 0; i < 10; ++i) {
    group.spawn([&](const std::stop_token& stop) {
      ++begun;
      first.count_down();
      until_asked_to_stop(stop);
    });
    if (i == 0) first.wait();
  }
  group.request_stop();
  try {
    group.wait();
  } catch (const weft::cancelled&) {
    std::printf("%d of 10 jobs of the group began\n", begun);
  }

  // The whole pool: spawned jobs get the pool's token.
  std::latch inside(1);
  pool.spawn([&](const std::stop_token& stop) {
    inside.count_down();
    until_asked_to_stop(stop);
  });
  inside.wait();
  for (int i = 0; i < 5; ++i) pool.spawn([] { std::printf("never printed\n"); });
  pool.shutdown(weft::shutdown_mode::cancel);
  std::printf("dropped by the shutdown: %llu\n",
              static_cast<unsigned long long>(pool.stats().dropped));
  try {
    pool.spawn([] {});
  } catch (const weft::pool_stopped& e) {
    std::printf("%s\n", e.what());
  }
}
