#include "io/io_thread.hpp"

#include <chrono>
#include <exception>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <weft/core/observer_slot.hpp>
#include <weft/core/running.hpp>

#include "io/asio_thread.hpp"
#include "io/quiet_thread.hpp"
#include "io/reactor.hpp"

namespace weft::io {
namespace {

using clock = std::chrono::steady_clock;

const lane*& lane_of_this_thread() noexcept {
  static constinit thread_local const lane* here = nullptr;
  return here;
}

}  // namespace

struct io_thread::loop {
  loop(io_thread& o, unsigned i) : owner(o), index(i) {}

  // So many jobs may run before the engine is looked at: each look is a system call.
  static constexpr int jobs_per_turn = 61;

  // The body of the thread: makes the engine there, says so, and runs.
  void start(io_engine kind) noexcept;
  void run() noexcept;
  [[nodiscard]] bool turn() noexcept;
  void set_here(io_thread* here) noexcept;
  // The thread is awake and will look again: nobody has to wake it. True at the end.
  [[nodiscard]] bool take_jobs() noexcept;
  void let_observe() noexcept;
  void take_timers() noexcept;
  void run_jobs() noexcept;
  void call(detail::queued_job& job) const noexcept;
  void run_completions() noexcept;
  // Until when the thread may wait for completions. From now on it has to be woken for jobs.
  [[nodiscard]] reactor::time_point may_wait_until() noexcept;

  io_thread& owner;
  const unsigned index;
  std::unique_ptr<reactor> engine;  // null: it could not start, because of `failure`
  std::exception_ptr failure;
  std::latch started{1};
  std::thread thread;

  std::mutex mutex;
  // Guarded by mutex.
  detail::job_list jobs;
  bool awake = true;  // the thread will look at `jobs` before it sleeps
  bool ending = false;
  bool ended = false;
  bool asio_is_used = false;
  std::unique_ptr<asio_thread> beside;  // for Asio, where the engine does not serve it

  detail::observer_slot observer;

  // The thread's own: what it will run next. It posts here itself, without the lock.
  detail::job_list taken;
};

io_thread::io_thread(unsigned index, io_engine engine)
    : loop_(std::make_unique<loop>(*this, index)) {
  loop_->thread = start_quiet_thread("weft-io/" + std::to_string(index),
                                     [&l = *loop_, engine]() noexcept { l.start(engine); });
  loop_->started.wait();
  if (loop_->engine != nullptr) return;
  loop_->thread.join();
  std::rethrow_exception(loop_->failure);
}

io_thread::io_thread(std::unique_ptr<reactor> engine) : loop_(std::make_unique<loop>(*this, 0)) {
  loop_->engine = std::move(engine);
}

io_thread::~io_thread() {
  {
    const std::lock_guard lock(loop_->mutex);
    loop_->ending = true;
  }
  loop_->engine->wake();
  if (loop_->thread.joinable()) {
    loop_->thread.join();
  } else {
    while (turn()) {
    }
  }
}

bool io_thread::turn() noexcept {
  loop_->set_here(this);
  const bool goes_on = loop_->turn();
  loop_->set_here(nullptr);
  return goes_on;
}

reactor& io_thread::engine() noexcept { return *loop_->engine; }
bool io_thread::is_nonblocking() const noexcept { return loop_->engine->wants_nonblocking(); }

boost::asio::io_context& io_thread::context() {
  const std::lock_guard lock(loop_->mutex);
  if (boost::asio::io_context* const own = loop_->engine->context()) {
    loop_->asio_is_used = true;
    if (!std::exchange(loop_->awake, true)) loop_->engine->wake();
    return *own;
  }
  if (loop_->beside == nullptr) {
    loop_->beside = std::make_unique<asio_thread>("weft-asio/" + std::to_string(loop_->index));
  }
  return loop_->beside->context();
}

bool io_thread::is_here() const noexcept { return lane_of_this_thread() == this; }

bool io_thread::observe(const std::shared_ptr<observer>& o) { return loop_->observer.set(o); }

void io_thread::post(detail::queued_job& job) noexcept {
  observer* const told = loop_->observer.note_queued(&job);
  if (is_here()) return loop_->taken.push_back(job);
  std::unique_lock lock(loop_->mutex);
  if (loop_->ended) {
    lock.unlock();
    detail::tell_withdrawn(told, &job);
    return job.call(job, detail::job_fate::run);
  }
  loop_->jobs.push_back(job);
  // With the lock: once the job has run, the thread may be gone.
  if (!std::exchange(loop_->awake, true)) loop_->engine->wake();
}

void io_thread::sooner() noexcept {
  if (!is_here()) loop_->engine->wake();  // else it looks before it sleeps
}

void io_thread::loop::start(io_engine kind) noexcept {
  try {
    engine = make_reactor(kind);
  } catch (...) {
    failure = std::current_exception();
  }
  started.count_down();
  if (engine != nullptr) run();
}

void io_thread::loop::run() noexcept {
  set_here(&owner);
  while (turn()) {
  }
  set_here(nullptr);
}

void io_thread::loop::set_here(io_thread* here) noexcept {
  lane_of_this_thread() = here;
  timer_queue::set_here(here);
  detail::running::on_this_thread().observer = nullptr;
}

bool io_thread::loop::turn() noexcept {
  if (take_jobs()) return false;
  let_observe();
  take_timers();
  run_jobs();
  run_completions();
  return true;
}

bool io_thread::loop::take_jobs() noexcept {
  const std::lock_guard lock(mutex);
  awake = true;
  taken.append(jobs.take_all());
  ended = ending && taken.empty();
  return ended;
}

// Tasks of this lane go on at once, behind what waits already.
void io_thread::loop::take_timers() noexcept {
  if (owner.empty()) return;
  detail::job_list due = owner.expire(clock::now());
  while (detail::queued_job* const job = due.pop_front()) {
    auto& task = static_cast<coro::promise_base&>(*job);
    if (&task.home() == &owner) {
      taken.push_back(task);
    } else {
      task.post();
    }
  }
}

// Once for a turn: tasks go on from jobs, timers and completions.
void io_thread::loop::let_observe() noexcept {
  auto& here = detail::running::on_this_thread();
  here.observer = observer.get();
  here.worker = index;
}

void io_thread::loop::run_jobs() noexcept {
  if (taken.empty()) return;
  const auto end = clock::now() + reactor::turn;
  for (int left = jobs_per_turn; left > 0; --left) {
    detail::queued_job* const job = taken.pop_front();
    if (job == nullptr) return;
    call(*job);
    if (clock::now() >= end) return;
  }
}

void io_thread::loop::call(detail::queued_job& job) const noexcept {
  if (weft::observer* const o = detail::running::on_this_thread().observer) [[unlikely]]
    return detail::call_observed(*o, index, job, detail::job_fate::run);
  job.call(job, detail::job_fate::run);
}

void io_thread::loop::run_completions() noexcept { engine->run_turn(may_wait_until()); }

reactor::time_point io_thread::loop::may_wait_until() noexcept {
  {
    const std::lock_guard lock(mutex);
    // Here, for it may have been a job of this very turn that asked.
    if (asio_is_used) engine->serve_asio();
    if (!taken.empty() || !jobs.empty() || ending) return reactor::at_once;
    awake = false;
  }
  return owner.next_due().value_or(reactor::whenever);
}

}  // namespace weft::io
