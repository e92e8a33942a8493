#include "sizer.hpp"

#include <weft/adapt/policy/impact.hpp>
#include <weft/adapt/policy/throughput.hpp>

namespace weft::exec {
namespace {

class throughput_sizer final : public sizer {
 public:
  explicit throughput_sizer(const executor_options& options)
      : policy_({.min = options.min_workers,
                 .max = options.max_workers,
                 .cpu_threshold = options.cpu_threshold}) {}

  unsigned start(double usable_cpus) override { return policy_.start(usable_cpus); }
  choice decide(const window& seen, std::chrono::steady_clock::time_point now) override {
    const adapt::sizing s = policy_.poll({.wall = seen.wall,
                                          .cpu = seen.cpu,
                                          .completed = seen.completed,
                                          .waiting = seen.waiting,
                                          .workers = seen.workers,
                                          .usable_cpus = seen.usable_cpus,
                                          .machine_cpu = seen.machine_cpu},
                                         now);
    return {.workers = s.workers,
            .reason = explain(s),
            .why = s.reason,
            .is_trial = s.reason == adapt::sizing_reason::probing_down};
  }

 private:
  adapt::throughput policy_;
};

class impact_sizer final : public sizer {
 public:
  explicit impact_sizer(const executor_options& options)
      : policy_({.min = options.min_workers,
                 .max = options.max_workers,
                 .cpu_threshold = options.cpu_threshold,
                 .gpu_memory_threshold = options.gpu_memory_threshold}) {}

  unsigned start(double) override { return policy_.start(); }
  choice decide(const window& seen, std::chrono::steady_clock::time_point now) override {
    const adapt::sizing s = policy_.poll(
        {.cpu = seen.machine_cpu, .gpu_memory = seen.gpu_memory, .waiting = seen.waiting}, now);
    return {.workers = s.workers, .reason = explain(s), .why = s.reason};
  }

 private:
  adapt::impact policy_;
};

class fixed_sizer final : public sizer {
 public:
  explicit fixed_sizer(unsigned workers) : workers_(workers) {}

  unsigned start(double) override { return workers_; }
  choice decide(const window&, std::chrono::steady_clock::time_point) override {
    return {.workers = workers_, .reason = "the size is fixed"};
  }

 private:
  unsigned workers_;
};

}  // namespace

std::unique_ptr<sizer> make_sizer(const executor_options& options) {
  switch (options.sizing) {
    case sizing_policy::impact:
      return std::make_unique<impact_sizer>(options);
    case sizing_policy::fixed:
      return std::make_unique<fixed_sizer>(options.max_workers);
    case sizing_policy::throughput:
      break;
  }
  return std::make_unique<throughput_sizer>(options);
}

}  // namespace weft::exec
