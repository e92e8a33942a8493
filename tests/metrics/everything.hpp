#pragma once

// A program that uses everything that Weft publishes metrics of.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ranges>
#include <string>

#include <weft/adapt/policy/health_zones.hpp>
#include <weft/batch/plan.hpp>
#include <weft/batch/runner.hpp>
#include <weft/core/pool.hpp>
#include <weft/exec/executor.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/metrics/metrics.hpp>

namespace weft::test {

// Until it has changed its size, which items that mostly wait make it do.
inline void resize(executor_options options, metrics& m, std::string* text) {
  std::mutex mutex;
  std::condition_variable changed;
  bool resized = false;
  options.on_scale = [&](const scaling_event& event) {
    const std::lock_guard lock(mutex);
    resized = resized || event.from != event.to;
  };
  executor ex(options);
  const auto entry = m.add("thumbnails", ex);
  const auto wait_a_little = [&](int i) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(2));
    return i;
  };
  for (auto&& r : ex.map(wait_a_little, std::views::iota(0), {.look_ahead = 200})) {
    static_cast<void>(r);
    const std::lock_guard lock(mutex);
    if (resized) break;
  }
  *text = m.text();
}

// What a scrape says when all of it is there.
inline std::string scrape_everything() {
  metrics m;
  pool main({.workers = 2});
  const auto main_entry = m.add("main", main);
  for (int i = 0; i < 100; ++i) main.submit([] {}).get();

  hybrid_scheduler hs({.cpu_workers = 2});
  const auto hs_entry = m.add("server", hs);
  hs.spawn([] {}).get();
  hs.spawn_blocking([] {}).get();

  const batch_meter nightly = m.add_batch("nightly");
  plan p;
  p.add({.id = "good", .run = [] { return true; }});
  p.add({.id = "bad", .run = [] { return false; }});
  p.add({.id = "after", .after = {"bad"}, .run = [] {}});
  run(p, {.workers = 2, .on_event = nightly.listener()});

  policy_meter jobs = m.add_policy("jobs");
  health_zones policy({.min = 1, .max = 10});
  const adapt::time_point start{};
  for (const double score : {80.0, 20.0, 50.0}) {
    jobs.record(policy.poll({.score = score}, start), score);
  }
  m.sample();

  std::string text;
  resize({.max_workers = 16, .scale_check_interval = std::chrono::milliseconds(20)}, m, &text);
  return text;
}

}  // namespace weft::test
