#include <cstdio>

#include <weft/core/pool.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/otlp/exporter.hpp>

int main() {
  weft::metrics metrics;
  weft::pool pool({.workers = 2});
  const auto pool_entry = metrics.add("main", pool);
  // Nobody listens there.
  weft::otlp_exporter exporter(
      {.endpoint = "http://127.0.0.1:1", .shutdown_timeout = std::chrono::milliseconds(0)});
  const auto entry = exporter.add(metrics);
  const bool is_sent = exporter.flush(std::chrono::milliseconds(100));
  const bool waits = exporter.stats().points.waiting > 0;
  std::printf("%s\n", !is_sent && waits ? "waits" : "does not wait");
}
