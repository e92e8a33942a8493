#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <weft/metrics/batch_meter.hpp>
#include <weft/metrics/metrics_entry.hpp>
#include <weft/metrics/policy_meter.hpp>
#include <weft/telemetry/metric_values.hpp>

namespace prometheus {
class Collectable;  // NOLINT(readability-identifier-naming): as it is called there
}

namespace weft {

class executor;
class hybrid_scheduler;
class pool;

// A label that every metric gets.
struct metric_label {
  std::string name;
  std::string value;
};

struct metrics_options {
  // Stands before every name, with an underscore; empty: nothing does. Two `metrics` that one
  // Prometheus reads from the same address need different prefixes.
  std::string prefix = "weft";
  std::vector<metric_label> labels = {};
};

// Publishes what a program does, in the format that Prometheus reads.
//
//   weft::metrics metrics;
//   weft::pool pool;
//   auto entry = metrics.add("main", pool);
//   reply(metrics.text());                       // to GET /metrics
//
// Values are read when somebody asks: what is added does not notice, and is not slowed down.
// docs/reference/telemetry.md lists the metrics.
//
// A counter never falls while its entry lives, and counts from the beginning of what was added, not
// of its entry. Where something else is added under a name that was removed, it may fall, which
// Prometheus takes for a restart.
//
// Threads: every member, from any thread. Blocks: one of text(), read(), sample(), adding and
//   removing at a time. None of them waits for tasks.
// Errors: std::invalid_argument for a prefix, a label or a name that Prometheus would not take, for
//   a label that Weft's metrics have themselves, and for a name that is taken, whatever has it;
//   std::length_error for more than entries_max.
// Lifetime: an entry ends before what it is about; entries and meters may outlive `metrics`. Not in
//   a forked child.
class metrics {
 public:
  static constexpr std::size_t entries_max = 1000;
  static constexpr std::size_t name_length_max = 200;

  explicit metrics(const metrics_options& options = {});
  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  [[nodiscard]] metrics_entry add(std::string name, pool& what);
  // Also as a pool, with what its CPU lane does.
  [[nodiscard]] metrics_entry add(std::string name, hybrid_scheduler& what);
  // Also as a pool, if it has one of its own.
  [[nodiscard]] metrics_entry add(std::string name, executor& what);
  // Counts the runs of a plan that are given its listener.
  [[nodiscard]] batch_meter add_batch(std::string name);
  // Counts the decisions that it is told.
  [[nodiscard]] policy_meter add_policy(std::string name);

  // Looks at every queue once, and sends every pool and hybrid scheduler a probe that measures how
  // long a task waits for a worker. For a timer of the program, say ten times a second: a scrape
  // looks at the queues too, but seldom, and sends no probes. A probe is counted as a task, and
  // wakes a worker.
  void sample();

  // One scrape: everything, in the text format of Prometheus.
  [[nodiscard]] std::string text();

  // The same as values, under the names of the schema and without prefix: for those who publish it
  // in another way.
  [[nodiscard]] std::vector<telemetry::metric_values> read();

  // The same for the servers of prometheus-cpp, which hold it weakly:
  // exposer.RegisterCollectable(metrics.collectable()). Stays as long as this object.
  [[nodiscard]] std::shared_ptr<prometheus::Collectable> collectable() const;

 private:
  std::shared_ptr<telemetry::registry> registry_;
};

}  // namespace weft
