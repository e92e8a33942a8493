#include <weft/io/blocking_lane.hpp>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/base/assert.hpp>
#include <weft/core/job_memory.hpp>
#include <weft/core/observer_slot.hpp>

#include "base/thread_name.hpp"

namespace weft::io {
namespace {

using detail::job_fate;
using detail::queued_job;

constexpr unsigned threads_limit = 4096;
static_assert(threads_limit < observer::workers_max);  // who stands in has the number after them
constexpr std::chrono::milliseconds longest_idle = std::chrono::hours(24);

blocking_lane_options checked(blocking_lane_options options) {
  const auto require = [](const char* field, auto value, auto low, auto high, const char* unit) {
    if (value >= low && value <= high) return;
    throw std::invalid_argument("weft: blocking_lane_options::" + std::string(field) + " is " +
                                std::to_string(value) + unit + ", but must be between " +
                                std::to_string(low) + " and " + std::to_string(high) + unit);
  };
  require("max_threads", options.max_threads, 1U, threads_limit, "");
  require("idle_exit", options.idle_exit.count(), std::chrono::milliseconds::rep{0},
          longest_idle.count(), " ms");
  return options;
}

// The crew whose job this thread runs. Jobs of one lane can run inside those of another, where a
// caller stands in for a thread.
thread_local const void* running_for = nullptr;

// Signals are for the threads of the program; those of a lane inherit a mask that blocks all but
// those that a thread causes itself, and the profiler's.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
      ::sigdelset(&blocked, own);
    }
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

// The threads and what they share.
//
// 1. A job waits only while no thread is idle, and max_threads exist or the system refused the last
//    one that was wanted.
// 2. Whoever runs jobs is in threads_ or callers_, and looks at the queue before it leaves.
class blocking_lane::crew {
 public:
  explicit crew(blocking_lane_options options);

  [[nodiscard]] bool try_post(queued_job& job) noexcept;
  void post(queued_job& job) noexcept;
  void shutdown(shutdown_mode mode);
  [[nodiscard]] blocking_lane_stats stats() const;
  [[nodiscard]] bool is_abandoned() const noexcept { return ::getpid() != process_; }
  bool observe(const std::shared_ptr<observer>& o) { return observer_.set(o); }

 private:
  // What a thread sits on, made in advance: starting and handing over cannot fail for memory.
  struct seat {
    crew* home = nullptr;
    unsigned index = 0;
    queued_job* job = nullptr;  // handed over by whoever posts
    std::condition_variable handed;
  };

  static void* thread_main(void* argument) noexcept;
  void prepare_thread(unsigned index) const noexcept;
  void serve(seat& here);
  [[nodiscard]] bool leave(seat& here);

  // All with mutex_ held; run() gives it back meanwhile.
  [[nodiscard]] bool hand_over(queued_job& job) noexcept;
  [[nodiscard]] bool start_thread(queued_job& job) noexcept;
  void start_threads_for_waiting() noexcept;
  void run(queued_job& job, unsigned index, std::unique_lock<std::mutex>& lock) noexcept;
  void call(queued_job& job, unsigned index, job_fate fate) noexcept;  // without it
  void stand_in(queued_job& job, std::unique_lock<std::mutex>& lock) noexcept;
  void let_wait(queued_job& job) noexcept;
  [[nodiscard]] queued_job* take_waiting() noexcept;
  [[nodiscard]] queued_job* next_job(seat& here, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool is_deserted() const noexcept { return threads_ + callers_ == 0; }
  // For the observer: no thread of the lane has it.
  [[nodiscard]] unsigned number_of_callers() const noexcept { return options_.max_threads; }

  const blocking_lane_options options_;
  const pid_t process_ = ::getpid();
  cpu_set_t allowed_cpus_{};
  std::mutex ending_;  // held by the shutdown() that waits
  detail::observer_slot observer_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable deserted_;
  std::vector<seat> seats_;
  std::vector<seat*> free_;  // without a thread
  std::vector<seat*> idle_;  // the last one has just become so
  detail::job_list waiting_;
  std::size_t waiting_count_ = 0;
  unsigned threads_ = 0;
  unsigned callers_ = 0;  // that stand in for a thread
  std::size_t running_ = 0;
  std::uint64_t started_total_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t run_by_callers_ = 0;
  bool closing_ = false;
  bool cancelling_ = false;
  bool over_ = false;  // no more threads
  // The thread that left last. The next one waits for its end, and shutdown() for the last.
  std::optional<pthread_t> left_;
};

blocking_lane::crew::crew(blocking_lane_options options)
    : options_(checked(std::move(options))), seats_(options_.max_threads) {
  CPU_ZERO(&allowed_cpus_);
  ::sched_getaffinity(0, sizeof(allowed_cpus_), &allowed_cpus_);
  free_.reserve(seats_.size());
  idle_.reserve(seats_.size());
  for (std::size_t i = seats_.size(); i-- > 0;) {
    seats_[i].home = this;
    seats_[i].index = static_cast<unsigned>(i);
    free_.push_back(&seats_[i]);
  }
}

// --- On any thread -------------------------------------------------------------------------------

bool blocking_lane::crew::try_post(queued_job& job) noexcept {
  if (is_abandoned()) return false;
  observer* const told = observer_.note_queued(&job);
  std::unique_lock lock(mutex_);
  if (!closing_) {
    if (hand_over(job)) return true;
    if (threads_ > 0 && waiting_count_ < options_.max_waiting) {
      let_wait(job);
      return true;
    }
  }
  ++refused_;
  lock.unlock();
  detail::tell_withdrawn(told, &job);
  return false;
}

void blocking_lane::crew::post(queued_job& job) noexcept {
  if (is_abandoned()) return job.call(job, job_fate::drop);
  observer* const told = observer_.note_queued(&job);
  std::unique_lock lock(mutex_);
  if (cancelling_) {
    lock.unlock();
    detail::tell_withdrawn(told, &job);
    return job.call(job, job_fate::drop);
  }
  if (hand_over(job)) return;
  if (is_deserted()) return stand_in(job, lock);
  let_wait(job);
}

void blocking_lane::crew::let_wait(queued_job& job) noexcept {
  waiting_.push_back(job);
  ++waiting_count_;
}

// Null when there is none. Whoever takes one runs it.
queued_job* blocking_lane::crew::take_waiting() noexcept {
  queued_job* const job = waiting_.pop_front();
  if (job == nullptr) return nullptr;
  --waiting_count_;
  ++running_;
  return job;
}

bool blocking_lane::crew::hand_over(queued_job& job) noexcept {
  if (idle_.empty()) return start_thread(job);
  seat& taker = *idle_.back();
  idle_.pop_back();
  taker.job = &job;
  ++running_;
  taker.handed.notify_one();
  return true;
}

bool blocking_lane::crew::start_thread(queued_job& job) noexcept {
  if (over_ || free_.empty()) return false;
  seat& taken = *free_.back();
  pthread_t thread{};
  {
    const signals_blocked meanwhile;
    if (::pthread_create(&thread, nullptr, &crew::thread_main, &taken) != 0) return false;
  }
  taken.job = &job;  // in time: the thread locks before it looks
  free_.pop_back();
  ++threads_;
  ++started_total_;
  ++running_;
  return true;
}

// After the system has refused a thread, jobs may wait although there are less than may be.
void blocking_lane::crew::start_threads_for_waiting() noexcept {
  while (queued_job* const job = waiting_.front()) {
    if (!start_thread(*job)) return;
    static_cast<void>(waiting_.pop_front());
    --waiting_count_;
  }
}

void blocking_lane::crew::run(queued_job& job, unsigned index,
                              std::unique_lock<std::mutex>& lock) noexcept {
  start_threads_for_waiting();
  lock.unlock();
  const void* const before = std::exchange(running_for, this);
  call(job, index, job_fate::run);
  running_for = before;
  lock.lock();
  --running_;
}

void blocking_lane::crew::call(queued_job& job, unsigned index, job_fate fate) noexcept {
  if (observer* const o = observer_.get()) [[unlikely]] {
    detail::call_observed(*o, index, job, fate);
  } else {
    job.call(job, fate);
  }
}

// Runs what waits, too, until a thread can be had: jobs that these post are not run inside them.
void blocking_lane::crew::stand_in(queued_job& job, std::unique_lock<std::mutex>& lock) noexcept {
  ++callers_;
  ++running_;
  for (queued_job* next = &job; next != nullptr; next = take_waiting()) {
    ++run_by_callers_;
    run(*next, number_of_callers(), lock);
    start_threads_for_waiting();
    if (threads_ > 0) break;
  }
  --callers_;
  if (is_deserted()) deserted_.notify_all();
}

blocking_lane_stats blocking_lane::crew::stats() const {
  if (is_abandoned()) return {};
  const std::lock_guard lock(mutex_);
  return {.threads = threads_,
          .idle = static_cast<unsigned>(idle_.size()),
          .running = running_,
          .waiting = waiting_count_,
          .started_total = started_total_,
          .refused = refused_,
          .run_by_callers = run_by_callers_};
}

void blocking_lane::crew::shutdown(shutdown_mode mode) {
  detail::job_list dropped;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (mode == shutdown_mode::cancel) {
      cancelling_ = true;
      dropped = waiting_.take_all();
      waiting_count_ = 0;
    }
    for (seat* const each : idle_) each->handed.notify_one();
  }
  while (queued_job* const job = dropped.pop_front()) {
    call(*job, number_of_callers(), job_fate::drop);
  }

  const std::lock_guard only(ending_);
  std::unique_lock lock(mutex_);
  deserted_.wait(lock, [this] { return is_deserted(); });
  over_ = true;
  const std::optional<pthread_t> last = std::exchange(left_, std::nullopt);
  lock.unlock();
  if (last) ::pthread_join(*last, nullptr);
}

// --- On a thread of the lane ---------------------------------------------------------------------

void* blocking_lane::crew::thread_main(void* argument) noexcept {
  seat& here = *static_cast<seat*>(argument);
  crew& home = *here.home;
  home.prepare_thread(here.index);
  do {
    if (home.options_.on_thread_start) home.options_.on_thread_start(here.index);
    home.serve(here);
    if (home.options_.on_thread_stop) home.options_.on_thread_stop(here.index);
  } while (!home.leave(here));
  detail::job_memory::give_back();
  return nullptr;
}

// A thread inherits the CPUs of the one that creates it, which may be a worker that is bound to
// one. Only then are they set: a mask of its own no longer follows the cpuset of the process.
void blocking_lane::crew::prepare_thread(unsigned index) const noexcept {
  detail::name_this_thread(options_.name, index);
  cpu_set_t inherited;
  if (::sched_getaffinity(0, sizeof(inherited), &inherited) != 0) return;
  if (CPU_EQUAL(&inherited, &allowed_cpus_)) return;
  ::pthread_setaffinity_np(::pthread_self(), sizeof(allowed_cpus_), &allowed_cpus_);
}

void blocking_lane::crew::serve(seat& here) {
  std::unique_lock lock(mutex_);
  for (queued_job* job = std::exchange(here.job, nullptr); job != nullptr;
       job = next_job(here, lock)) {
    run(*job, here.index, lock);
  }
}

// Null when the thread may end.
queued_job* blocking_lane::crew::next_job(seat& here, std::unique_lock<std::mutex>& lock) {
  if (queued_job* const job = take_waiting()) return job;
  if (closing_) return nullptr;
  idle_.push_back(&here);
  here.handed.wait_for(lock, options_.idle_exit, [&] { return here.job != nullptr || closing_; });
  if (here.job == nullptr) idle_.erase(std::find(idle_.begin(), idle_.end(), &here));
  return std::exchange(here.job, nullptr);
}

// False when a job came meanwhile, which the thread has to take: it counted as one that would.
bool blocking_lane::crew::leave(seat& here) {
  std::optional<pthread_t> before;
  {
    const std::lock_guard lock(mutex_);
    here.job = take_waiting();
    if (here.job != nullptr) return false;
    free_.push_back(&here);
    --threads_;
    before = std::exchange(left_, ::pthread_self());
    if (is_deserted()) deserted_.notify_all();
  }
  if (before) ::pthread_join(*before, nullptr);
  return true;
}

// --- The public face -----------------------------------------------------------------------------

blocking_lane::blocking_lane(blocking_lane_options options) : crew_(new crew(std::move(options))) {}

blocking_lane::~blocking_lane() {
  // A condition variable that threads of the parent wait on cannot be destroyed.
  if (crew_->is_abandoned()) return;
  WEFT_ASSERT(!is_here(),
              "a blocking lane is destroyed by one of its own jobs, which would wait for itself; "
              "let the thread that made the lane destroy it");
  crew_->shutdown(shutdown_mode::drain);
  delete crew_;
}

bool blocking_lane::try_post(detail::queued_job& job) noexcept { return crew_->try_post(job); }

void blocking_lane::post(detail::queued_job& job) noexcept { crew_->post(job); }
bool blocking_lane::observe(const std::shared_ptr<observer>& o) { return crew_->observe(o); }

bool blocking_lane::is_here() const noexcept {
  return running_for == crew_ && !crew_->is_abandoned();
}

blocking_lane_stats blocking_lane::stats() const { return crew_->stats(); }

void blocking_lane::shutdown(shutdown_mode mode) {
  if (crew_->is_abandoned()) return;
  if (is_here()) {
    throw std::logic_error(
        "weft: blocking_lane::shutdown was called by one of the lane's own jobs, which would wait "
        "for itself; call it from outside the lane");
  }
  crew_->shutdown(mode);
}

}  // namespace weft::io
