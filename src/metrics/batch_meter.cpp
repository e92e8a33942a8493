#include <weft/metrics/batch_meter.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

#include <weft/batch/runner.hpp>
#include <weft/metrics/metrics.hpp>
#include <weft/telemetry/schema.hpp>

#include "metrics/registry.hpp"

namespace weft {
namespace telemetry {
namespace {

constexpr std::array<double, 13> duration_bounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1,
                                                    5,     10,    60,   300,  600, 3600};
constexpr std::array<rule_status, 6> outcomes = {rule_status::passed,    rule_status::flaky,
                                                 rule_status::warned,    rule_status::failed,
                                                 rule_status::timed_out, rule_status::skipped};

// What one run has going on.
struct run_state {
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;
};

void take_one(std::uint64_t& from) noexcept { from -= std::min<std::uint64_t>(from, 1); }

std::uint64_t rules_to_run(const run_record& record) {
  const auto waits = [](const rule_record& r) { return r.status == rule_status::waiting; };
  return static_cast<std::uint64_t>(std::ranges::count_if(record.rules, waits));
}

}  // namespace

// Fed by the listeners of runs, under a lock of its own: a rule takes a millisecond or more.
class batch_counts final : public source {
 public:
  batch_counts() : durations_(duration_bounds) {}

  void add_run(const run_state& run) {
    const std::lock_guard lock(mutex_);
    now_.insert(&run);
  }
  void remove_run(const run_state& run) noexcept {
    const std::lock_guard lock(mutex_);
    now_.erase(&run);
  }
  void tell(run_state& run, const run_event& event);
  void collect(snapshot& into) override;

 private:
  void count(rule_status status) noexcept {
    const auto* const place = std::ranges::find(outcomes, status);
    if (place != outcomes.end()) ++finished_[static_cast<std::size_t>(place - outcomes.begin())];
  }

  std::mutex mutex_;
  // All guarded by mutex_, with what is in the states.
  std::set<const run_state*> now_;
  std::uint64_t runs_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint64_t stolen_ = 0;
  std::array<std::uint64_t, outcomes.size()> finished_{};
  histogram durations_;
};

void batch_counts::tell(run_state& run, const run_event& event) {
  const std::lock_guard lock(mutex_);
  switch (event.what) {
    case run_event::kind::began:
      ++runs_;
      run = {.running = 0, .waiting = rules_to_run(event.record)};
      break;
    case run_event::kind::started:
      take_one(run.waiting);
      ++run.running;
      if (event.record.rules[event.index].stolen_from) ++stolen_;
      break;
    case run_event::kind::repeated:
      take_one(run.running);
      ++run.waiting;
      ++repeated_;
      break;
    case run_event::kind::finished: {
      const rule_record& rule = event.record.rules[event.index];
      take_one(run.running);
      count(rule.status);
      durations_.record(rule.duration);
      break;
    }
    case run_event::kind::skipped:
      take_one(run.waiting);
      count(rule_status::skipped);
      break;
    case run_event::kind::ending:
      run.waiting = 0;  // nothing more begins
      break;
    case run_event::kind::stage:
    case run_event::kind::tick:
      break;
  }
}

void batch_counts::collect(snapshot& into) {
  const std::lock_guard lock(mutex_);
  run_state sum;
  for (const run_state* run : now_) {
    sum.running += run->running;
    sum.waiting += run->waiting;
  }
  into.set(metric::batch_runs_started, runs_);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    into.set(metric::batch_rules_finished, finished_[i], {name_of(outcomes[i])});
  }
  into.set(metric::batch_rules_running, sum.running);
  into.set(metric::batch_rules_waiting, sum.waiting);
  into.set(metric::batch_attempts_repeated, repeated_);
  into.set(metric::batch_rules_stolen, stolen_);
  into.set(metric::batch_rule_duration, durations_);
}

namespace {

// Shared by the copies of a listener; what its run has going on is forgotten with the last one.
class run_share {
 public:
  explicit run_share(std::shared_ptr<batch_counts> counts) : counts_(std::move(counts)) {
    counts_->add_run(state_);
  }
  ~run_share() { counts_->remove_run(state_); }
  run_share(const run_share&) = delete;
  run_share& operator=(const run_share&) = delete;

  void tell(const run_event& event) { counts_->tell(state_, event); }

 private:
  std::shared_ptr<batch_counts> counts_;
  run_state state_;
};

}  // namespace
}  // namespace telemetry

std::function<void(const run_event&)> batch_meter::listener() const {
  return [share = std::make_shared<telemetry::run_share>(counts_)](const run_event& event) {
    share->tell(event);
  };
}

batch_meter metrics::add_batch(std::string name) {
  auto counts = std::make_shared<telemetry::batch_counts>();
  metrics_entry entry = registry_->add(std::move(name), counts);
  return {std::move(entry), std::move(counts)};
}

}  // namespace weft
