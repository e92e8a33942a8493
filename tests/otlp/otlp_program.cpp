// Does what Weft publishes spans and metrics of, and exports it to the endpoint that it is given.
// Prints what became of it, for receiver.py to compare with what has come.

#include <cstdio>
#include <string>
#include <vector>

#include <weft/adapt/policy/health_zones.hpp>
#include <weft/batch/plan.hpp>
#include <weft/batch/runner.hpp>
#include <weft/core/context.hpp>
#include <weft/core/pool.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/task.hpp>
#include <weft/exec/executor.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/otlp/exporter.hpp>
#include <weft/telemetry/trace.hpp>

namespace {

weft::task<> work() { co_return; }

// A request that is served by a pool and by every lane of a hybrid scheduler.
void serve(weft::pool& pool, weft::hybrid_scheduler& hs) {
  const weft::context_scope scope(weft::context::new_trace("checkout"));
  for (int i = 0; i < 20; ++i) pool.submit([] {}).get();
  for (int i = 0; i < 20; ++i) weft::spawn(pool, work()).get();
  hs.spawn(work()).get();
  hs.spawn([] {}, {.name = "price"}).get();
  hs.spawn_blocking([] {}).get();
  const weft::context_scope part(weft::context::current().part("pay \"now\" \xff"));
  pool.submit([] {}).get();
}

void run_a_plan(weft::batch_meter& meter) {
  weft::plan p;
  p.add({.id = "good", .run = [] { return true; }});
  p.add({.id = "bad", .run = [] { return false; }});
  p.add({.id = "after", .after = {"bad"}, .run = [] {}});
  weft::run(p, {.workers = 2, .on_event = meter.listener()});
}

void decide(weft::policy_meter& meter) {
  weft::health_zones policy({.min = 1, .max = 10});
  for (const double score : {80.0, 20.0, 50.0})
    meter.record(policy.poll({.score = score}, {}), score);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.size() != 2) {
    std::fputs("usage: otlp_program ENDPOINT\n", stderr);
    return 2;
  }
  weft::otlp_exporter exporter({.endpoint = arguments[1],
                                .service_name = "shop",
                                .resource = {{"deployment.environment.name", "test"}},
                                .headers = {{"x-tenant", "7"}},
                                .interval = std::chrono::hours(1),
                                .backoff_first = std::chrono::milliseconds(1),
                                .batch_size = 16});
  weft::trace trace;
  weft::metrics metrics({.labels = {{.name = "region", .value = "n\xC3\xB6rdlich"}}});
  weft::pool pool({.workers = 2});
  weft::hybrid_scheduler hs({.cpu_workers = 2});
  weft::executor ex({.max_workers = 2});
  const auto traced_pool = trace.add("main", pool);
  const auto traced_scheduler = trace.add("server", hs);
  const auto pool_entry = metrics.add("main", pool);
  const auto scheduler_entry = metrics.add("server", hs);
  const auto executor_entry = metrics.add("thumbnails", ex);
  weft::batch_meter nightly = metrics.add_batch("nightly");
  weft::policy_meter jobs = metrics.add_policy("jobs");
  trace.start();
  auto spans = exporter.add(trace);
  auto numbers = exporter.add(metrics);

  bool is_sent = true;
  for (int round = 0; round < 3; ++round) {
    serve(pool, hs);
    ex.submit([] {}).get();
    run_a_plan(nightly);
    decide(jobs);
    metrics.sample();
    is_sent = exporter.flush(std::chrono::minutes(1)) && is_sent;
  }
  // Afterwards every task has let its context go.
  pool.shutdown();
  hs.shutdown();
  spans.remove();
  numbers.remove();
  if (!exporter.flush(std::chrono::minutes(1)) || !is_sent) {
    std::fprintf(stderr, "not sent: %s\n", exporter.stats().last_error.c_str());
    return 1;
  }
  const weft::otlp_stats stats = exporter.stats();
  std::printf("%llu spans, %llu points, %llu requests, %llu failed\n",
              static_cast<unsigned long long>(stats.spans.sent),
              static_cast<unsigned long long>(stats.points.sent),
              static_cast<unsigned long long>(stats.requests),
              static_cast<unsigned long long>(stats.failed_requests));
}
