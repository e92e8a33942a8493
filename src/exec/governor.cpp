#include "governor.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

namespace weft::exec {

governor::governor(const executor_options& options, std::unique_ptr<sizer> policy, pool& on,
                   detail::work_control& control, const worker_clocks& clocks)
    : options_(options),
      policy_(std::move(policy)),
      pool_(on),
      control_(control),
      clocks_(clocks),
      cpu_({.root = options.system_root}),
      memory_({.root = options.system_root}),
      gpu_({.root = options.system_root}),
      thread_([this](const std::stop_token& stopping) { watch(stopping); }) {}

void governor::stop() noexcept {
  thread_.request_stop();
  if (thread_.joinable() && !is_this_thread()) thread_.join();
}

bool governor::is_short_of_memory() const {
  const std::lock_guard lock(mutex_);
  return short_of_memory_;
}

std::vector<scaling_event> governor::events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

std::vector<resize_count> governor::resizes() const {
  const std::lock_guard lock(mutex_);
  return resizes_;
}

void governor::watch(const std::stop_token& stopping) {
  while (!control_.wait_for_work(stopping)) {
    // What was measured before a pause says nothing about what comes after it.
    clock::time_point now = clock::now();
    clock::time_point looked = now;
    clock::time_point decided = now;
    look_at_machine(now);
    window_began_ = mark_now();
    on_trial_ = false;
    while (has_work()) {
      const auto interval =
          on_trial_ ? options_.scale_check_interval / 4 : options_.scale_check_interval;
      const auto until_look = options_.monitor_interval - (now - looked);
      const auto until_decision = interval - (now - decided);
      if (control_.wait_for(std::min(until_look, until_decision), stopping)) return;
      now = clock::now();
      if (now - looked >= options_.monitor_interval) {
        looked = now;
        look_at_machine(now);
      }
      keep_admission_going(now);
      if (now - decided >= interval) {
        decided = now;
        decide_size(now);
      }
    }
  }
}

bool governor::has_work() const {
  const auto tally = control_.count();
  return tally.tasks + tally.maps != 0;
}

governor::mark governor::mark_now() const {
  return {.at = clock::now(), .cpu = clocks_.total(), .items = control_.count().items};
}

void governor::look_at_machine(clock::time_point now) {
  const adapt::cpu_reading cpu = cpu_.read(now);
  usable_cpus_ = cpu.usable;
  machine_cpu_.reset();
  if (cpu.utilisation) machine_cpu_ = 100 * *cpu.utilisation;

  const auto memory = memory_.read().worst();
  memory_used_.reset();
  if (memory) memory_used_ = 100 * memory->share();

  const adapt::gpu_reading gpus = gpu_.read();
  const auto gpu = options_.gpu_device ? adapt::device_at(gpus, *options_.gpu_device)
                                       : adapt::worst_device(gpus);
  gpu_memory_used_.reset();
  if (gpu && gpu->memory) gpu_memory_used_ = 100 * gpu->memory->share();
  decide_admission();
}

void governor::decide_size(clock::time_point now) {
  const mark end = mark_now();
  const unsigned workers = pool_.workers();
  const sizer::choice chosen = policy_->decide({.wall = end.at - window_began_.at,
                                                .cpu = end.cpu - window_began_.cpu,
                                                .completed = end.items - window_began_.items,
                                                .waiting = pool_.stats().queue_depth,
                                                .workers = workers,
                                                .usable_cpus = usable_cpus_,
                                                .machine_cpu = machine_cpu_,
                                                .gpu_memory = gpu_memory_used_},
                                               now);
  window_began_ = end;
  on_trial_ = chosen.is_trial;
  if (chosen.workers == workers) return;
  try {
    pool_.resize(chosen.workers);
    count_resize(chosen.workers > workers, chosen.why);
    record(workers, chosen.workers, chosen.reason);
  } catch (const std::exception& error) {
    record(workers, workers,
           "no thread could be created for " + std::to_string(chosen.workers) +
               " workers: " + error.what());
  }
}

void governor::decide_admission() {
  const bool machine = memory_used_ && *memory_used_ > options_.memory_threshold;
  const bool gpu = gpu_memory_used_ && *gpu_memory_used_ > options_.gpu_memory_threshold;
  const bool is_short = machine || gpu;
  {
    const std::lock_guard lock(mutex_);
    if (is_short == std::exchange(short_of_memory_, is_short)) return;
  }
  admitted_ = 1;
  progress_at_ = clock::now();
  control_.admit_at_most(is_short ? 1 : options_.max_workers);
  char reason[128];
  if (is_short) {
    std::snprintf(reason, sizeof(reason),
                  "%s memory is %.0f %% used, above %.0f %%: tasks begin one at a time",
                  machine ? "main" : "GPU", machine ? *memory_used_ : *gpu_memory_used_,
                  machine ? options_.memory_threshold : options_.gpu_memory_threshold);
  } else {
    std::snprintf(reason, sizeof(reason), "memory use is back below its threshold");
  }
  record(pool_.workers(), pool_.workers(), reason);
}

void governor::keep_admission_going(clock::time_point now) {
  if (!is_short_of_memory()) return;
  const std::uint64_t items = control_.count().items;
  if (items != std::exchange(items_then_, items) || control_.waiting_for_admission() == 0) {
    progress_at_ = now;
    if (std::exchange(admitted_, 1) != 1) control_.admit_at_most(1);
  } else if ((now - progress_at_) / 10 >= options_.scale_check_interval) {
    progress_at_ = now;
    control_.admit_at_most(++admitted_);
  }
}

void governor::count_resize(bool up, adapt::sizing_reason why) {
  const std::lock_guard lock(mutex_);
  const auto same = [=](const resize_count& r) { return r.up == up && r.reason == why; };
  auto place = std::find_if(resizes_.begin(), resizes_.end(), same);
  if (place == resizes_.end()) {
    place = resizes_.insert(resizes_.end(), {.up = up, .reason = why, .count = 0});
  }
  ++place->count;
}

void governor::record(unsigned from, unsigned to, std::string reason) {
  scaling_event event{.when = clock::now(), .from = from, .to = to, .reason = std::move(reason)};
  {
    const std::lock_guard lock(mutex_);
    // What is said at every look is said once.
    const bool again = from == to && !events_.empty() && events_.back().reason == event.reason;
    if (again) return;
    if (events_.size() == most_events) events_.pop_front();
    events_.push_back(event);
  }
  if (options_.on_scale) options_.on_scale(event);
}

}  // namespace weft::exec
