#include "crew.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <weft/base/assert.hpp>
#include <weft/core/crew_access.hpp>

#include "base/thread_name.hpp"
#include "resolve_options.hpp"

namespace weft::detail {
namespace {

// Counts forks of this process: a crew made under another count has lost its threads.
std::uint32_t generation = 1;

std::uint32_t watch_forks() {
  static const int installed =
      ::pthread_atfork(&job_memory::before_fork, &job_memory::after_fork, [] {
        job_memory::after_fork();
        ++generation;
        occupy(nullptr);  // the child's one thread is no worker
      });
  static_cast<void>(installed);
  return generation;
}

// Best effort: a mask that shrank meanwhile leaves the thread where it is.
void pin_this_thread(unsigned index, const cpu_set_t& allowed) noexcept {
  const int count = CPU_COUNT(&allowed);
  if (count == 0) return;
  int nth = static_cast<int>(index) % count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || nth-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::pthread_setaffinity_np(::pthread_self(), sizeof(one), &one);
    return;
  }
}

// A thread inherits the mask of the one that creates it, which may be a pinned job that resizes the
// pool. Only then is it set: a mask of its own no longer follows the cpuset of the process.
void allow_this_thread(const cpu_set_t& allowed) noexcept {
  cpu_set_t inherited;
  if (::sched_getaffinity(0, sizeof(inherited), &inherited) != 0) return;
  if (CPU_EQUAL(&inherited, &allowed)) return;
  ::pthread_setaffinity_np(::pthread_self(), sizeof(allowed), &allowed);
}

struct thread_start {
  crew* owner;
  worker* seat;
};

}  // namespace

crew::crew(pool_options options, pool& owner)
    : options_(resolve_options(std::move(options))),
      owner_(owner),
      fenced_(!options_.asymmetric_fences || !asymmetric_fences_work()),
      process_(watch_forks()),
      observer_(options_.observer),
      sleep_(options_.workers, fenced_) {
  wanted_.store(options_.workers, std::memory_order_relaxed);  // nobody else is there yet
  CPU_ZERO(&allowed_cpus_);
  ::sched_getaffinity(0, sizeof(allowed_cpus_), &allowed_cpus_);
  workers_.reserve(options_.max_workers);
  threads_.reserve(options_.max_workers);
  sleep_.reserve(options_.max_workers);
  try {
    start_workers(options_.workers);
  } catch (...) {
    shutdown(shutdown_mode::drain);
    throw;
  }
}

void crew::end() {
  WEFT_ASSERT(current_crew() != this,
              "a pool is destroyed by one of its own jobs, which would wait for itself; let the "
              "thread that made the pool destroy it");
  shutdown(shutdown_mode::drain);
}

void crew::release() noexcept {
  // acq_rel: what the other holders did comes before the deletion.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

// -- threads --------------------------------------------------------------------------------------

void crew::start_workers(unsigned count) {
  while (workers_.size() < count) start_worker(count);
}

void crew::start_worker(unsigned wanted) {
  auto seat = std::make_unique<worker>(*this, static_cast<unsigned>(workers_.size()), sleep_.word(),
                                       fenced_);
  worker* const w = seat.get();
  pthread_t thread{};
  if (!is_deterministic()) {
    auto start = std::make_unique<thread_start>(thread_start{.owner = this, .seat = w});
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    if (options_.stack_size != 0) ::pthread_attr_setstacksize(&attributes, options_.stack_size);
    // Signals are for the threads of the program; workers inherit a mask that blocks all but those
    // that a thread causes itself, and the profiler's.
    sigset_t blocked;
    sigset_t before;
    ::sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
      ::sigdelset(&blocked, own);
    }
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int error = ::pthread_create(&thread, &attributes, &crew::thread_main, start.get());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_attr_destroy(&attributes);
    if (error != 0) {
      throw std::system_error(
          error, std::generic_category(),
          "weft: cannot create worker thread " + std::to_string(workers_.size() + 1) + " of " +
              std::to_string(wanted) +
              "; use fewer workers, a smaller stack_size, or raise the limit on "
              "threads (ulimit -u, pids.max)");
    }
    static_cast<void>(start.release());
    threads_.push_back(thread);
  }
  // The thread sleeps at its bell until it is shown to the others. Nothing below can throw: the
  // vectors were reserved.
  workers_.push_back(std::move(seat));
  sleep_.add_sleeper(w->bed());
  started_.store(static_cast<unsigned>(workers_.size()), std::memory_order_release);
  sleep_.show_sleepers();
}

void* crew::thread_main(void* argument) noexcept {
  const std::unique_ptr<thread_start> start(static_cast<thread_start*>(argument));
  crew& c = *start->owner;
  worker& w = *start->seat;
  const unsigned index = w.index();
  name_this_thread(c.options_.name, index);
  if (c.options_.pin) {
    pin_this_thread(index, c.allowed_cpus_);
  } else {
    allow_this_thread(c.allowed_cpus_);
  }
  if (c.options_.on_thread_start) c.options_.on_thread_start(index);
  occupy(&w);
  w.run();
  occupy(nullptr);
  if (c.options_.on_thread_stop) c.options_.on_thread_stop(index);
  job_memory::give_back();
  return nullptr;
}

void crew::resize(unsigned workers) {
  require_open("pool::resize");
  require_range("pool::resize: the number of workers", workers, 1, options_.max_workers,
                "max_workers is fixed when the pool is made");
  std::unique_lock<std::mutex> lock;
  if (!lock_change(lock)) throw_stopped("pool::resize");
  // Threads that sleep in calls do not count, so there must be others for the seats.
  const unsigned seats = std::min(workers + blocked_, options_.max_workers);
  start_workers(seats);
  wanted_.store(workers, std::memory_order_relaxed);
  sleep_.set_seats(seats);
}

bool crew::lock_change(std::unique_lock<std::mutex>& lock) const noexcept {
  if (is_abandoned()) return false;  // whoever held it stayed in the parent
  lock = std::unique_lock(change_, std::try_to_lock);
  while (!lock.owns_lock()) {
    if (!is_open()) return false;
    ::sched_yield();
    static_cast<void>(lock.try_lock());
  }
  return !ended_;
}

bool crew::add_seat_for_blocked() noexcept {
  if (is_deterministic()) return false;
  std::unique_lock<std::mutex> lock;
  if (!lock_change(lock)) return false;
  const unsigned seats = wanted_workers() + blocked_ + 1;
  if (seats > options_.max_workers) return false;
  try {
    start_workers(seats);
  } catch (const std::exception&) {
    return false;  // the others go on without it
  }
  ++blocked_;
  sleep_.set_seats(seats);
  return true;
}

void crew::remove_seat_for_blocked() noexcept {
  std::unique_lock<std::mutex> lock;
  if (!lock_change(lock)) return;  // the seat goes with the pool
  --blocked_;
  sleep_.set_seats(std::min(wanted_workers() + blocked_, options_.max_workers));
}

void crew::shutdown(shutdown_mode mode) {
  if (is_abandoned()) return;
  if (current_crew() == this) {
    throw std::logic_error(
        "weft: pool::shutdown was called by one of the pool's own jobs, which would wait for "
        "itself; "
        "call it from outside the pool");
  }
  closed_.store(true, std::memory_order_seq_cst);
  if (mode == shutdown_mode::cancel) {
    cancelling_.store(true, std::memory_order_relaxed);
    stop_.request_stop();
  }
  injector_.close();
  {
    const std::lock_guard lock(room_mutex_);
    room_.notify_all();
  }
  const std::lock_guard lock(change_);
  if (ended_) return;
  ended_ = true;
  if (is_deterministic()) {
    while (has_work()) run_all_here();
    return;
  }
  if (worker_count() > 0) sleep_.wait_drained([this] { return has_work(); });
  sleep_.send_all_home();
  for (const pthread_t thread : threads_) ::pthread_join(thread, nullptr);
  threads_.clear();
}

std::uint32_t process_generation() noexcept { return generation; }

bool crew::is_abandoned() const noexcept { return process_ != generation; }

// -- jobs from outside ----------------------------------------------------------------------------

void crew::require_open(const char* name) const {
  if (is_abandoned()) {
    throw used_after_fork("weft: " + std::string(name) +
                          " in a forked child: the pool's threads stayed in the parent; make a new "
                          "pool in the child, or fork before the first pool is made");
  }
  if (!is_open()) throw_stopped(name);  // early; the injector and the seats decide for good
}

void crew::throw_stopped(const char* name) const {
  throw pool_stopped(
      "weft: " + std::string(name) +
      " after pool::shutdown: the pool takes no more jobs; submit before shutting it "
      "down, or make a new pool");
}

void crew::submit(queued_job& job, const char* name) {
  if (worker* w = current_worker(); w != nullptr && &w->home() == this) {
    observer_.note_queued(&job);
    w->push(job);
    return;
  }
  require_open(name);
  weft::observer* const told = observer_.note_queued(&job);
  const std::size_t limit = options_.max_pending == 0 ? injector::no_limit : options_.max_pending;
  push_status status = injector_.push(job, limit);
  if (status == push_status::full && options_.overflow == when_full::block) {
    status = wait_for_room(job);
  }
  if (status == push_status::pushed) return announce_work();
  tell_withdrawn(told, &job);
  if (status == push_status::closed) throw_stopped(name);
  if (options_.overflow == when_full::run_in_caller) return job.call(job, job_fate::run);
  throw queue_full("weft: " + std::string(name) + ": " + std::to_string(options_.max_pending) +
                   " jobs are waiting (pool_options::max_pending); try again later, or let the "
                   "caller wait with when_full::block");
}

push_status crew::wait_for_room(queued_job& job) {
  if (is_deterministic()) return make_room_here(job);
  std::unique_lock lock(room_mutex_);
  // seq_cst: either the taker sees this waiter, or the push below sees the room it made.
  waiting_for_room_.fetch_add(1, std::memory_order_seq_cst);
  push_status status = push_status::full;
  room_.wait(lock, [&] {
    status = injector_.push(job, options_.max_pending);
    return status != push_status::full;
  });
  waiting_for_room_.fetch_sub(1, std::memory_order_seq_cst);
  return status;
}

void crew::announce_work() noexcept {
  if (!is_deterministic())
    sleep_.work_added();  // there, nobody sleeps: whoever waits does the work
}

// Nobody but the caller can run what fills the queue.
push_status crew::make_room_here(queued_job& job) {
  for (;;) {
    const push_status status = injector_.push(job, options_.max_pending);
    if (status != push_status::full) return status;
    run_all_here();
  }
}

void crew::run_all_here() noexcept {
  if (worker* w = borrow_worker()) {
    worker* const before = occupy(w);  // its jobs may spawn
    w->run_all();
    occupy(before);
    return_worker(*w);
  } else {
    ::sched_yield();  // another thread is at it
  }
}

demand crew::idle_demand() const noexcept {
  const sleep::counts now = sleep_.read();
  if (now.searching > 0) return demand::searching;
  return now.vacant > 0 ? demand::asleep : demand::none;
}

void crew::room_made() noexcept {
  if (waiting_for_room_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(room_mutex_);
  room_.notify_all();
}

void crew::continue_with(queued_job& job) noexcept {
  weft::observer* const told = observer_.note_queued(&job);
  if (worker* w = current_worker(); w != nullptr && &w->home() == this) {
    w->push(job);
    return;
  }
  // The job may be done, and the pool gone with it, before this call has returned.
  const crew_reference keep(*this);
  if (injector_.push(job) == push_status::pushed) {
    announce_work();
  } else {
    tell_withdrawn(told, &job);
    job.call(job, job_fate::run);  // the pool ends and this is no worker of it: nobody else will
  }
}

// The queue for work from outside is behind everything a worker has.
void crew::post_last(queued_job& job) noexcept {
  if (is_here()) {
    observer_.note_queued(&job);
    return current_worker()->push_last(job);
  }
  continue_with(job);
}

bool crew::is_here() const noexcept {
  const worker* const w = current_worker();
  return w != nullptr && &w->home() == this;
}

bool crew::has_work() noexcept {
  if (injector_.size() > 0) return true;
  const unsigned count = worker_count();
  for (unsigned i = 0; i < count; ++i) {
    if (workers_[i]->has_jobs()) return true;
  }
  return false;
}

worker* crew::borrow_worker() noexcept {
  sleeper* const bed = sleep_.borrow_seat([this] { return !is_deterministic() && has_work(); });
  if (bed == nullptr) return nullptr;
  const unsigned count = worker_count();
  for (unsigned i = 0; i < count; ++i) {
    if (&workers_[i]->bed() != bed) continue;
    workers_[i]->guest_arrives(observer());
    return workers_[i].get();
  }
  WEFT_ASSERT(false, "a seat was lent that belongs to no worker of this pool");
  return nullptr;
}

void crew::return_worker(worker& w) noexcept {
  w.guest_leaves();
  sleep_.return_seat(w.bed(), [this] { return !is_deterministic() && has_work(); });
}

void crew::report_unhandled(std::exception_ptr error) const noexcept {
  if (options_.on_unhandled) {
    options_.on_unhandled(std::move(error));
    return;
  }
  const char* what = "an exception that is not a std::exception";
  std::string text;
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& e) {
    text = e.what();
    what = text.c_str();
  } catch (...) {  // NOLINT(bugprone-empty-catch): `what` says it
  }
  const worker* w = current_worker();
  std::fprintf(
      stderr,
      "weft: a job spawned on pool \"%s\" (worker %d) threw: %s\n"
      "weft: nobody waits for a spawned job, so the program ends here. Catch the exception "
      "in the job, use submit() and get() it, or set pool_options::on_unhandled.\n",
      options_.name.c_str(), w != nullptr ? static_cast<int>(w->index()) : -1, what);
  std::terminate();
}

// -- looking at it --------------------------------------------------------------------------------

pool_stats crew::stats() const {
  pool_stats s;
  const sleep::counts counts = sleep_.read();
  s.since = made_at_;
  s.workers = sleep_.seats();
  s.idle_workers = std::min<std::size_t>(s.workers, counts.vacant + counts.searching);
  s.queue_depth = injector_.size();
  s.spawned = injector_.size();
  const unsigned count = worker_count();
  for (unsigned i = 0; i < count; ++i) {
    const worker_stats& w = s.per_worker.emplace_back(workers_[i]->stats());
    s.spawned += w.spawned + w.injected;
    s.executed += w.executed;
    s.stolen += w.stolen;
    s.dropped += w.dropped;
    s.parks += w.parks;
    s.wakes += w.wakes;
    s.queue_depth += w.queued;
  }
  return s;
}

std::string crew::dump() const {
  const pool_stats s = stats();
  const sleep::counts counts = sleep_.read();
  std::string out = "pool \"" + options_.name + "\": " + std::to_string(s.workers) + " workers, " +
                    std::to_string(s.idle_workers) + " idle, " + std::to_string(s.queue_depth) +
                    " jobs waiting (" + std::to_string(injector_.size()) + " from outside)";
  if (counts.suspended > 0) {
    out += ", " + std::to_string(counts.suspended) + " asleep inside a job";
  }
  if (counts.surplus > 0) {
    out += ", " + std::to_string(counts.surplus) + " to leave";
  }
  if (closed_.load(std::memory_order_relaxed)) out += ", shut down";
  out += "\n";
  for (std::size_t i = 0; i < s.per_worker.size(); ++i) {
    const worker_stats& w = s.per_worker[i];
    const char* activity = "asleep";
    switch (w.activity) {
      case worker_activity::asleep:
        break;
      case worker_activity::searching:
        activity = "searching";
        break;
      case worker_activity::running:
        activity = "running a job";
        break;
      case worker_activity::waiting:
        activity = "asleep inside a job, at a wait";
        break;
    }
    out += "  worker " + std::to_string(i) + ": " + activity + "; queued " +
           std::to_string(w.queued) + ", executed " + std::to_string(w.executed) + ", stolen " +
           std::to_string(w.stolen) + ", nesting " + std::to_string(w.nesting) + ", parks " +
           std::to_string(w.parks) + "\n";
  }
  return out;
}

}  // namespace weft::detail
