#include "io/io_thread.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

namespace weft::io {
namespace {

using clock = std::chrono::steady_clock;

// How long jobs may go on before completions and timers are looked at.
constexpr auto turn = std::chrono::microseconds(200);

const lane*& lane_of_this_thread() noexcept {
  static constinit thread_local const lane* here = nullptr;
  return here;
}

// Signals are for the threads of the program.
std::thread start_without_signals(auto body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  try {
    started = std::thread(std::move(body));
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

struct io_thread::engine {
  explicit engine(io_thread& o) : owner(o) {}

  void wake() noexcept {
    boost::asio::post(context, [] {});
  }
  void run() noexcept;
  // The thread is awake and will look again: nobody has to wake it. True at the end.
  [[nodiscard]] bool take_jobs() noexcept;
  void take_timers() noexcept;
  void run_jobs() noexcept;
  void run_completions() noexcept;
  // Unless there is something to do: then nobody needs to wait.
  void sleep() noexcept;

  io_thread& owner;
  boost::asio::io_context context{1};  // used by one thread, posted to by many
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::thread thread;

  std::mutex mutex;
  // Guarded by mutex.
  detail::job_list jobs;
  bool awake = true;  // the thread will look at `jobs` before it sleeps
  bool ending = false;
  bool ended = false;

  detail::job_list taken;  // the thread's own: what it will run next
};

io_thread::io_thread(const std::string& name) try : engine_(std::make_unique<engine>(*this)) {
  engine_->thread = start_without_signals([this, short_name = name.substr(0, 15)] {
    ::pthread_setname_np(::pthread_self(), short_name.c_str());
    engine_->run();
  });
} catch (const boost::system::system_error& e) {
  throw std::system_error(e.code(),
                          "weft: the I/O engine cannot start; it needs descriptors for epoll, "
                          "a timer and an event (ulimit -n)");
}

io_thread::~io_thread() {
  {
    const std::lock_guard lock(engine_->mutex);
    engine_->ending = true;
  }
  engine_->wake();
  engine_->thread.join();
}

boost::asio::io_context& io_thread::context() noexcept { return engine_->context; }

bool io_thread::is_here() const noexcept { return lane_of_this_thread() == this; }

void io_thread::post(detail::queued_job& job) noexcept {
  bool must_wake = false;
  {
    std::unique_lock lock(engine_->mutex);
    if (engine_->ended) {
      lock.unlock();
      return job.call(job, detail::job_fate::run);
    }
    engine_->jobs.push_back(job);
    must_wake = !std::exchange(engine_->awake, true);
  }
  if (must_wake) engine_->wake();
}

void io_thread::sooner() noexcept {
  if (!is_here()) engine_->wake();  // else it looks before it sleeps
}

void io_thread::engine::run() noexcept {
  lane_of_this_thread() = &owner;
  timer_queue::set_here(&owner);
  while (!take_jobs()) {
    take_timers();
    run_jobs();
    run_completions();
    sleep();
  }
  timer_queue::set_here(nullptr);
  lane_of_this_thread() = nullptr;
}

bool io_thread::engine::take_jobs() noexcept {
  const std::lock_guard lock(mutex);
  awake = true;
  if (!taken.empty()) return false;
  taken = jobs.take_all();
  ended = ending && taken.empty();
  return ended;
}

// Tasks of this lane go on at once, behind what waits already.
void io_thread::engine::take_timers() noexcept {
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

void io_thread::engine::run_jobs() noexcept {
  if (taken.empty()) return;
  const auto end = clock::now() + turn;
  while (detail::queued_job* const job = taken.pop_front()) {
    job->call(*job, detail::job_fate::run);
    if (clock::now() >= end) return;
  }
}

void io_thread::engine::run_completions() noexcept {
  const auto end = clock::now() + turn;
  while (context.poll_one() > 0 && clock::now() < end) {
  }
}

void io_thread::engine::sleep() noexcept {
  if (!taken.empty()) return;
  {
    const std::lock_guard lock(mutex);
    if (!jobs.empty() || ending) return;
    awake = false;
  }
  if (const auto due = owner.next_due()) {
    context.run_one_until(*due);
  } else {
    context.run_one();
  }
}

}  // namespace weft::io
