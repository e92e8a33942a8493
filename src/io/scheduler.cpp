#include "io/scheduler.hpp"

#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <weft/core/crew_access.hpp>

namespace weft::io {
namespace {

hybrid_options checked(hybrid_options options) {
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("weft: hybrid_options::" + why);
  };
  if (options.io_threads == 0 || options.io_threads > 64) {
    refuse("io_threads is " + std::to_string(options.io_threads) + "; give 1 to 64");
  }
  if (options.engine > io_engine::io_uring) {
    refuse("engine is none of automatic, epoll and io_uring");
  }
  if (options.blocked_after < std::chrono::milliseconds::zero()) {
    refuse("blocked_after is negative; give 0 to look for nothing, or some milliseconds");
  }
  if (options.cpu_pool != nullptr && options.cpu_workers != 0) {
    refuse(
        "cpu_workers is the size of a pool that the scheduler makes, and cpu_pool was given; "
        "resize that pool instead");
  }
  if (options.cpu_pool != nullptr && options.cpu_class != cpu_class::normal) {
    refuse(
        "cpu_class is for a pool that the scheduler makes, and cpu_pool was given; lower its "
        "threads in pool_options::on_thread_start");
  }
  return options;
}

std::unique_ptr<pool> make_pool(const hybrid_options& options, blocked_monitor* monitor) {
  if (options.cpu_pool != nullptr) return nullptr;
  pool_options wanted{.workers = options.cpu_workers, .name = "weft-cpu"};
  wanted.on_unhandled = options.on_unhandled;
  wanted.on_thread_start = [low = options.cpu_class == cpu_class::low, monitor](unsigned worker) {
    if (low) static_cast<void>(lower_this_thread());
    if (monitor != nullptr) monitor->worker_starts(worker);
  };
  return std::make_unique<pool>(std::move(wanted));
}

}  // namespace

// The monitor is told of the pool's threads, so it is there before them.
scheduler::scheduler(hybrid_options options)
    : options_(checked(std::move(options))),
      process_(detail::process_generation()),
      classifier_(options_.classifier != nullptr ? options_.classifier
                                                 : std::make_shared<kind_classifier>()),
      monitor_(options_.cpu_pool == nullptr && options_.blocked_after.count() > 0
                   ? std::make_unique<blocked_monitor>(options_.blocked_after, tasks_,
                                                       options_.on_blocked)
                   : nullptr),
      own_cpu_(make_pool(options_, monitor_.get())),
      cpu_(own_cpu_ != nullptr ? own_cpu_.get() : options_.cpu_pool),
      cpu_lane_(weft::lane_of(*cpu_), monitor_.get()),
      blocking_(options_.blocking) {
  start_io_threads();
  if (monitor_ != nullptr) monitor_->watch(*own_cpu_, options_.cpu_class);
}

void scheduler::start_io_threads() {
  if (options_.engine != io_engine::automatic) return start_io_threads(options_.engine);
  try {
    start_io_threads(io_engine::io_uring);
  } catch (const std::system_error&) {
    io_.clear();
    start_io_threads(io_engine::epoll);
  }
}

void scheduler::start_io_threads(io_engine engine) {
  for (unsigned i = 0; i < options_.io_threads; ++i) {
    io_.push_back(std::make_unique<io_thread>(i, engine));
  }
  engine_ = engine;
}

scheduler::~scheduler() {
  set_door(door::shut);
  tasks_.stop_all();
  tasks_.wait_until_empty();
  if (monitor_ != nullptr) monitor_->end();
  // A thread that has posted the end of the last task to another lane may still be at the post, so
  // threads go before the lanes they post to.
  blocking_.shutdown(shutdown_mode::drain);
  if (own_cpu_ != nullptr) own_cpu_->shutdown(shutdown_mode::drain);
}

void scheduler::set_door(door d) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (door_ < d) door_ = d;
  }
  if (d == door::shut) tasks_.close();  // also to those who have passed the door and are on the way
}

bool scheduler::is_abandoned() const noexcept { return process_ != detail::process_generation(); }

void scheduler::enter(tracked_task& t) {
  if (!tasks_.enter(t)) throw_stopped();
}

bool scheduler::is_inside() const noexcept {
  if (detail::current_crew() == &detail::crew_of(*cpu_) || blocking_.is_here()) return true;
  for (const auto& thread : io_) {
    if (thread->is_here()) return true;
  }
  return false;
}

void scheduler::require_open() const {
  if (is_abandoned()) {
    throw used_after_fork(
        "weft: hybrid_scheduler::spawn in a forked child: the scheduler's threads stayed in the "
        "parent; make a new scheduler in the child, or fork before the first one is made");
  }
  door now{};
  {
    const std::lock_guard lock(mutex_);
    now = door_;
  }
  if (now == door::open) return;
  if (now == door::from_inside && (is_inside() || others_may_follow::is_here(*this))) return;
  throw_stopped();
}

void scheduler::throw_stopped() {
  throw pool_stopped(
      "weft: hybrid_scheduler::spawn after shutdown(): it takes no more tasks; spawn before it, or "
      "use another scheduler");
}

lane_kind scheduler::classify(const task_facts& facts) noexcept {
  try {
    return classifier_->classify(facts);
  } catch (...) {
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      is_first = !std::exchange(classifier_failed_, true);
    }
    const lane_kind fallback = weft::lane_of(facts.kind);
    if (is_first) {
      std::fprintf(stderr,
                   "weft: the task_classifier threw for \"%.*s\"; it runs in the %s lane, as all "
                   "tasks will for which it throws\n",
                   static_cast<int>(facts.name.size()), facts.name.data(),
                   std::string(to_string(fallback)).c_str());
    }
    return fallback;
  }
}

io_thread& scheduler::io() noexcept {
  for (const auto& thread : io_) {
    if (thread->is_here()) return *thread;
  }
  return next_io();
}

io_thread& scheduler::next_io() noexcept {
  if (io_.size() == 1) return *io_.front();
  const std::lock_guard lock(mutex_);
  return *io_[next_io_++ % io_.size()];
}

placement scheduler::place(task_kind kind, const spawn_options& options) {
  require_open();
  const lane_kind chosen =
      options.lane ? *options.lane : classify({.name = options.name, .kind = kind});
  switch (chosen) {
    case lane_kind::cpu:
      return {.kind = chosen, .lane = &cpu_lane_};
    case lane_kind::io:
      return {.kind = chosen, .lane = &io()};
    case lane_kind::blocking:
      return {.kind = chosen, .lane = &blocking_};
  }
  throw std::invalid_argument("weft: spawn_options::lane is none of cpu, io and blocking");
}

void scheduler::submit(detail::queued_job& job, placement where) {
  switch (where.kind) {
    case lane_kind::cpu:
      if (monitor_ != nullptr) monitor_->work_comes();
      return detail::submit_task(detail::crew_of(*cpu_), job, "hybrid_scheduler::spawn");
    case lane_kind::io:
      return where.lane->post(job);
    case lane_kind::blocking:
      if (!try_post_blocking(job)) throw_blocking_full();
  }
}

void scheduler::throw_blocking_full() const {
  throw queue_full(
      "weft: the blocking lane is full: " + std::to_string(options_.blocking.max_threads) +
      " threads are busy and " + std::to_string(options_.blocking.max_waiting) +
      " calls wait (hybrid_options::blocking); try again later, or raise max_threads "
      "or max_waiting");
}

shutdown_report scheduler::shutdown(shutdown_limits limits) {
  if (is_abandoned()) return {};
  if (limits.let_run < limits.let_run.zero() || limits.then_stop < limits.then_stop.zero()) {
    throw std::invalid_argument("weft: shutdown_limits must not be negative; 0 waits for nothing");
  }
  if (is_inside()) {
    throw std::logic_error(
        "weft: hybrid_scheduler::shutdown was called by one of its own tasks, which would wait for "
        "itself; call it from outside");
  }
  shutdown_report report;
  set_door(door::from_inside);
  if (tasks_.wait_until_empty(detail::deadline_after(limits.let_run))) return report;
  set_door(door::shut);
  report.stopped_early = true;
  tasks_.stop_all();
  if (tasks_.wait_until_empty(detail::deadline_after(limits.then_stop))) return report;
  tasks_.visit([&](tracked_task& t) {
    const char* const what = t.task_waits_for();
    report.unfinished.push_back({.name = std::string(t.task_name()),
                                 .lane = t.lane(),
                                 .waits_for = what != nullptr ? what : ""});
  });
  return report;
}

namespace {

bool is_cancelled(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

// A task that was asked to stop and did has not failed.
void scheduler::report_unhandled(std::exception_ptr error) noexcept {
  if (is_cancelled(error)) return;
  if (options_.on_unhandled) return options_.on_unhandled(std::move(error));
  detail::report_unhandled(detail::crew_of(*cpu_), std::move(error));
}

hybrid_stats scheduler::stats() const {
  const std::uint64_t completed = tasks_.left();
  const std::uint64_t spawned = tasks_.entered();
  return {.cpu = cpu_->stats(),
          .blocking = blocking_.stats(),
          .io_threads = static_cast<unsigned>(io_.size()),
          .engine = engine_,
          .spawned = spawned,
          .completed = completed,
          .live = static_cast<std::size_t>(spawned - completed)};
}

std::vector<named_lane> scheduler::lanes() {
  std::vector<named_lane> all{{.name = "cpu", .task_type = "cpu_bound", .lane = cpu_lane_}};
  for (std::size_t i = 0; i < io_.size(); ++i) {
    all.push_back({.name = "io " + std::to_string(i), .task_type = "io_bound", .lane = *io_[i]});
  }
  all.push_back({.name = "blocking", .task_type = "blocking", .lane = blocking_});
  return all;
}

std::string scheduler::dump() const {
  std::string text;
  tasks_.visit([&](tracked_task& t) {
    const char* const what = t.task_waits_for();
    const std::string_view name = t.task_name();
    text += name.empty() ? "unnamed" : name;
    text += ", begun in the ";
    text += to_string(t.lane());
    text += what != nullptr ? std::string(" lane: waits for ") + what + "\n"
                            : " lane: runs or is queued\n";
  });
  return text.empty() ? "no tasks\n" : text;
}

// -- what the templates use -----------------------------------------------------------------------

placement place(scheduler& s, task_kind kind, const spawn_options& options) {
  return s.place(kind, options);
}
void submit(scheduler& s, detail::queued_job& job, placement where) { s.submit(job, where); }
detail::crew& crew_of(scheduler& s) noexcept { return detail::crew_of(s.cpu()); }
void report_unhandled(scheduler& s, std::exception_ptr error) noexcept {
  s.report_unhandled(std::move(error));
}

void tracked_task::enter(scheduler& s, lane_kind lane) {
  lane_ = lane;
  scheduler_ = &s;  // before: somebody may ask it to stop at once, and that may end it
  try {
    s.enter(*this);
  } catch (...) {
    scheduler_ = nullptr;
    throw;
  }
}
void tracked_task::leave() noexcept {
  if (scheduler_ != nullptr) std::exchange(scheduler_, nullptr)->tasks().leave(*this);
}

namespace {
constinit thread_local const others_may_follow* innermost_hold = nullptr;
}  // namespace

others_may_follow::others_may_follow(scheduler* s) noexcept
    : scheduler_(s), outer_(std::exchange(innermost_hold, this)) {
  if (scheduler_ != nullptr) scheduler_->tasks().hold();
}
others_may_follow::~others_may_follow() {
  innermost_hold = outer_;
  if (scheduler_ != nullptr) scheduler_->tasks().let_go();
}
bool others_may_follow::is_here(const scheduler& s) noexcept {
  for (const others_may_follow* h = innermost_hold; h != nullptr; h = h->outer_) {
    if (h->scheduler_ == &s) return true;
  }
  return false;
}

bool blocking_hop::move(coro::promise_base& task) {
  lane& to = scheduler_.blocking();
  if (to.is_here()) {
    task.move_to(to);
    return false;
  }
  lane& before = task.home();
  task.move_to(to);
  if (scheduler_.try_post_blocking(task)) return true;  // the frame may be gone
  task.move_to(before);
  scheduler_.throw_blocking_full();
}

}  // namespace weft::io

namespace weft {

hybrid_scheduler::hybrid_scheduler(hybrid_options options)
    : scheduler_(std::make_unique<io::scheduler>(std::move(options))) {}
// In a forked child there are no threads to wait for, and their locks may be held for ever.
hybrid_scheduler::~hybrid_scheduler() {
  if (scheduler_->is_abandoned()) static_cast<void>(scheduler_.release());
}

coro::hop hybrid_scheduler::cpu() noexcept { return schedule_on(scheduler_->cpu_lane()); }
coro::hop hybrid_scheduler::io() noexcept {
  return schedule_on(static_cast<lane&>(scheduler_->io()));
}
shutdown_report hybrid_scheduler::shutdown(shutdown_limits limits) {
  return scheduler_->shutdown(limits);
}
hybrid_stats hybrid_scheduler::stats() const { return scheduler_->stats(); }
std::string hybrid_scheduler::dump() const { return scheduler_->dump(); }
std::string hybrid_scheduler::explain(std::string_view name) const {
  return scheduler_->classifier()->explain(name);
}
io_engine hybrid_scheduler::engine() const noexcept { return scheduler_->engine(); }
pool& hybrid_scheduler::cpu_pool() noexcept { return scheduler_->cpu(); }
std::vector<named_lane> hybrid_scheduler::lanes() { return scheduler_->lanes(); }

}  // namespace weft
