#include "io/blocked_monitor.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <utility>

#include <weft/core/crew_access.hpp>
#include <weft/coro/promise.hpp>
#include <weft/io/hybrid.hpp>

#include "io/task_registry.hpp"

namespace weft::io {
namespace {

// A job that uses less than this share of the time sleeps.
constexpr double asleep_below = 0.1;
constexpr unsigned looks_until_blocked = 2;

void print(const blocked_task& found) {
  std::fprintf(
      stderr,
      "weft: task \"%s\" sleeps on worker %u of the CPU lane while others wait; %s. Spawn it "
      "with spawn_blocking, or wrap the call in weft::blocking()\n",
      found.name.c_str(), found.worker,
      found.compensated ? "another worker runs meanwhile"
                        : "no worker could be added, so they wait");
}

std::chrono::nanoseconds read(clockid_t clock) noexcept {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return {};
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// A thread that others keep from a core uses no time either, but does not sleep: on a full machine,
// and in the low class most of all.
bool wants_a_core(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // then a space and the state
  return name_end != std::string::npos && line.compare(name_end, 3, ") R") == 0;
}

}  // namespace

blocked_monitor::blocked_monitor(std::chrono::milliseconds after, const task_registry& tasks,
                                 std::function<void(const blocked_task&)> report)
    : interval_(std::max(std::chrono::milliseconds(1), after / looks_until_blocked)),
      tasks_(tasks),
      report_(report ? std::move(report) : &print) {}

blocked_monitor::~blocked_monitor() { end(); }

void blocked_monitor::worker_starts(unsigned index) {
  const std::lock_guard lock(mutex_);
  if (started_.size() <= index) started_.resize(index + 1);
  worker_thread& w = started_[index];
  if (::pthread_getcpuclockid(::pthread_self(), &w.cpu_clock) == 0) {
    w.running = &detail::running::here;
    w.id = ::gettid();
  }
}

void blocked_monitor::watch(pool& p, cpu_class threads) {
  pool_ = &p;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this, threads] {
      ::pthread_setname_np(::pthread_self(), "weft-monitor");
      // As those it looks after: in a class of its own it would delay the I/O that they do not.
      if (threads == cpu_class::low) static_cast<void>(lower_this_thread());
      run();
    });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void blocked_monitor::end() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void blocked_monitor::wake() noexcept {
  const std::lock_guard lock(mutex_);
  called_ = true;
  changed_.notify_one();
}

void blocked_monitor::run() noexcept {
  for (;;) {
    if (!look()) doze();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, interval_, [this] { return ending_; });
    if (ending_) break;
  }
  for (watched& w : workers_) {
    if (std::exchange(w.compensated, false))
      detail::remove_seat_for_blocked(detail::crew_of(*pool_));
  }
}

// Until work comes. It is announced before it is queued, so there is a pause before the last look,
// and run() makes one before the next.
void blocked_monitor::doze() {
  dozing_.store(true, std::memory_order_seq_cst);
  const auto called = [this] { return ending_ || called_; };
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, interval_, called)) {
    lock.unlock();
    const bool more = look();
    lock.lock();
    if (!more) changed_.wait(lock, called);
  }
  called_ = false;
  dozing_.store(false, std::memory_order_relaxed);  // it looks again anyway
}

void blocked_monitor::learn_of_new_workers() {
  const std::lock_guard lock(mutex_);
  workers_.resize(std::max(workers_.size(), started_.size()));
  for (std::size_t i = 0; i < started_.size(); ++i) workers_[i].thread = started_[i];
}

bool blocked_monitor::look() {
  learn_of_new_workers();
  const pool_stats now = pool_->stats();
  bool busy = now.queue_depth > 0;
  const std::size_t known = std::min(workers_.size(), now.per_worker.size());
  for (std::size_t i = 0; i < known; ++i) {
    look_at(static_cast<unsigned>(i), workers_[i], now.per_worker[i], now.queue_depth > 0);
    busy = busy || now.per_worker[i].activity == worker_activity::running;
  }
  return busy;
}

void blocked_monitor::look_at(unsigned index, watched& w, const worker_stats& now,
                              bool others_wait) {
  if (w.thread.running == nullptr) return;
  const auto cpu = read(w.thread.cpu_clock);
  // Of a seat that is lent, the clock of the worker's own thread says nothing.
  const bool same_job = now.executed == w.executed && now.executed > 0 && !now.lent &&
                        now.activity == worker_activity::running;
  const bool asleep = same_job && (cpu - w.cpu) < asleep_below * interval_;
  w.executed = now.executed;
  w.cpu = cpu;
  if (!same_job) {
    w.looks_asleep = 0;
    if (std::exchange(w.compensated, false))
      detail::remove_seat_for_blocked(detail::crew_of(*pool_));
    return;
  }
  w.looks_asleep = asleep ? w.looks_asleep + 1 : 0;
  if (w.looks_asleep < looks_until_blocked || !others_wait || w.compensated) return;
  if (!wants_a_core(w.thread.id)) found(index, w);
}

void blocked_monitor::found(unsigned index, watched& w) {
  std::string name = name_on(w);  // before: once others run, it may have what it waits for, and end
  w.compensated = detail::add_seat_for_blocked(detail::crew_of(*pool_));
  if (!reported_.insert(name).second) return;
  report_({.name = std::move(name), .worker = index, .compensated = w.compensated});
}

// The chain is not followed, for it may end at any moment; tasks know their own.
std::string blocked_monitor::name_on(const watched& w) const {
  const auto* const chain = static_cast<const coro::promise_base*>(w.thread.running->chain());
  std::string name;
  tasks_.visit([&](tracked_task& t) {
    if (name.empty() && t.owns_chain(chain)) name = t.task_name();
  });
  return name.empty() ? "unnamed" : name;
}

}  // namespace weft::io
