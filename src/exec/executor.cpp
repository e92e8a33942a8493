#include <weft/exec/executor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include <weft/base/assert.hpp>
#include <weft/base/topology.hpp>

#include "governor.hpp"
#include "worker_clocks.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::string& field, const std::string& problem) {
  throw std::invalid_argument("weft: executor_options::" + field + " " + problem);
}

void check_percent(const char* field, double value) {
  if (std::isnan(value) || value < 0 || value > 100) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value);
    refuse(field, std::string("is ") + text + "; give a percentage from 0 to 100");
  }
}

void check_interval(const char* field, std::chrono::nanoseconds value) {
  if (value < std::chrono::microseconds(100)) {
    refuse(field, "is " + std::to_string(value.count()) + " ns; give 100 us or more");
  }
}

executor_options checked(executor_options options) {
  check_percent("cpu_threshold", options.cpu_threshold);
  check_percent("memory_threshold", options.memory_threshold);
  check_percent("gpu_memory_threshold", options.gpu_memory_threshold);
  check_interval("monitor_interval", options.monitor_interval);
  check_interval("scale_check_interval", options.scale_check_interval);
  const unsigned cpus = base::usable_cpus({.root = options.system_root});
  if (options.max_workers == 0) {
    options.max_workers = std::max({options.min_workers, cpus, 32U});
    if (options.sizing == sizing_policy::fixed)
      options.max_workers = std::max(options.min_workers, cpus);
  }
  if (options.max_workers > pool::workers_limit) {
    refuse("max_workers", "is " + std::to_string(options.max_workers) + "; give 1 to " +
                              std::to_string(pool::workers_limit) + ", or 0 for the default");
  }
  if (options.min_workers == 0 || options.min_workers > options.max_workers) {
    refuse("min_workers", "is " + std::to_string(options.min_workers) +
                              "; give 1 to max_workers, which is " +
                              std::to_string(options.max_workers));
  }
  return options;
}

// Whoever submits or iterates does the work; the pool only gives futures a home.
bool runs_in_caller(const executor_options& options) { return options.max_workers == 1; }

}  // namespace

struct executor::machinery {
  machinery(executor_options with, pool* borrowed)
      : options(std::move(with)),
        policy(borrowed == nullptr ? exec::make_sizer(options) : nullptr),
        own(borrowed == nullptr ? std::make_unique<pool>(pool_settings()) : nullptr),
        on(borrowed == nullptr ? *own : *borrowed),
        control(on, {.runs_in_caller = borrowed == nullptr && runs_in_caller(options),
                     .fail_fast = options.on_error == on_error::fail_fast,
                     .most_at_once = most_at_once(borrowed)}) {
    if (own != nullptr && !control.runs_in_caller()) {
      governor.emplace(options, std::move(policy), on, control, clocks);
    }
  }

  pool_options pool_settings() {
    if (runs_in_caller(options)) return {.workers = 1, .deterministic_seed = 1};
    const double usable = base::usable_cpus({.root = options.system_root});
    return {.workers = policy->start(usable),
            .max_workers = options.max_workers,
            .name = options.name,
            .on_thread_start = [this](unsigned index) { clocks.started(index); },
            .on_thread_stop = [this](unsigned index) { clocks.stopped(index); }};
  }
  std::size_t most_at_once(const pool* borrowed) const {
    return borrowed == nullptr ? options.max_workers : borrowed->max_workers();
  }

  // Tasks use the control until the pool has ended.
  ~machinery() {
    governor.reset();
    own.reset();
  }

  const std::chrono::system_clock::time_point made_at = std::chrono::system_clock::now();
  const executor_options options;
  exec::worker_clocks clocks;
  std::unique_ptr<exec::sizer> policy;
  std::unique_ptr<pool> own;  // empty when the pool is borrowed
  pool& on;
  detail::work_control control;
  std::optional<exec::governor> governor;
  std::mutex ending;
};

executor::executor(executor_options options)
    : machinery_(std::make_unique<machinery>(checked(std::move(options)), nullptr)),
      control_(&machinery_->control) {}

executor::executor(pool& on, executor_options options)
    : machinery_(std::make_unique<machinery>(checked(std::move(options)), &on)),
      control_(&machinery_->control) {}

executor::~executor() {
  if (is_abandoned()) {
    // A forked child has none of the threads, and whatever they had locked stays locked.
    static_cast<void>(machinery_.release());
    return;
  }
  WEFT_ASSERT(!control_->is_inside_own_item() && !is_governor(),
              "an executor is destroyed by one of its own tasks, or by its on_scale; let its owner "
              "do that");
  shutdown();
}

bool executor::is_abandoned() const noexcept {
  return detail::is_abandoned(detail::crew_of(machinery_->on));
}

bool executor::is_governor() const noexcept {
  return machinery_->governor && machinery_->governor->is_this_thread();
}

void executor::shutdown(shutdown_options options) {
  if (is_abandoned()) return;
  machinery& m = *machinery_;
  control_->close();
  if (options.cancel_futures) control_->cancel();
  // A job of a borrowed pool may wait, for it helps; one of our own pool would wait for itself.
  const bool by_itself = control_->is_inside_own_item() || is_governor() ||
                         (m.own != nullptr && pool::current() == m.own.get());
  if (!options.wait || by_itself) return;
  control_->wait_for_tasks();
  const std::lock_guard lock(m.ending);
  if (m.governor) m.governor->stop();
  if (m.own != nullptr) m.own->shutdown();
}

unsigned executor::min_workers() const noexcept { return machinery_->options.min_workers; }
unsigned executor::max_workers() const noexcept {
  return machinery_->own != nullptr ? machinery_->options.max_workers
                                    : machinery_->on.max_workers();
}
unsigned executor::current_workers() const noexcept { return machinery_->on.workers(); }

executor_stats executor::stats() const {
  const machinery& m = *machinery_;
  const auto tally = m.control.count();
  executor_stats s{.workers = current_workers(),
                   .min_workers = min_workers(),
                   .max_workers = max_workers(),
                   .items = tally.items,
                   .stalls = tally.stalls,
                   .tasks = tally.tasks,
                   .maps = tally.maps,
                   .since = m.made_at};
  if (m.governor) {
    s.short_of_memory = m.governor->is_short_of_memory();
    s.resizes = m.governor->resizes();
    s.pool = m.on.stats();
  }
  return s;
}

std::vector<scaling_event> executor::events() const {
  return machinery_->governor ? machinery_->governor->events() : std::vector<scaling_event>();
}

std::string executor::explain() const {
  const machinery& m = *machinery_;
  const auto tally = m.control.count();
  std::string text = m.options.name + ": ";
  if (m.control.runs_in_caller()) {
    text += "max_workers is 1, so everything runs in the calling thread\n";
  } else if (m.own == nullptr) {
    text += "on a pool of " + std::to_string(current_workers()) + ", whose size is not its own\n";
  } else {
    text += "size " + std::to_string(current_workers()) + ", from " +
            std::to_string(min_workers()) + " to " + std::to_string(max_workers()) + "\n";
  }
  text += "items run: " + std::to_string(tally.items) + "\n";
  if (tally.stalls != 0) {
    text += "workers ran dry " + std::to_string(tally.stalls) +
            " times because a slow item held up the ones after it; a larger "
            "map_options::look_ahead helps\n";
  }
  if (m.governor && m.governor->is_short_of_memory()) {
    text += "short of memory: tasks begin one at a time\n";
  }
  const std::string failure = m.control.first_failure();
  if (!failure.empty()) text += "stopped by a failure: " + failure + "\n";
  const auto now = std::chrono::steady_clock::now();
  for (const scaling_event& e : events()) {
    char ago[32];
    std::snprintf(ago, sizeof(ago), "%8.1f s ago  ",
                  std::chrono::duration<double>(now - e.when).count());
    text += ago + e.reason + "\n";
  }
  return text;
}

}  // namespace weft
