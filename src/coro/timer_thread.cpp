#include "coro/timer_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <thread>

#include <weft/core/crew_access.hpp>

namespace weft::coro {

timer_thread& timer_thread::instance() {
  static std::mutex mutex;
  static timer_thread* current = nullptr;
  static std::uint32_t made_in = 0;

  const std::lock_guard lock(mutex);
  // What waited in the parent's goes on there.
  if (current != nullptr && made_in == detail::process_generation()) return *current;
  auto* const started = new timer_thread;
  try {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([started] {
      ::pthread_setname_np(::pthread_self(), "weft-timers");
      started->run();
    }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  } catch (...) {
    delete started;
    throw;
  }
  made_in = detail::process_generation();
  current = started;
  return *current;
}

void timer_thread::sooner() noexcept {
  const std::lock_guard lock(mutex_);
  has_changed_ = true;
  changed_.notify_one();
}

void timer_thread::run() noexcept {
  for (;;) {
    post_all(expire(std::chrono::steady_clock::now()));
    const auto due = next_due();
    std::unique_lock lock(mutex_);
    const auto changed = [this] { return std::exchange(has_changed_, false); };
    // The clock may be asked for a time so far away that it cannot tell: look again in an hour.
    const auto longest = std::chrono::steady_clock::now() + std::chrono::hours(1);
    if (due) {
      changed_.wait_until(lock, std::min(*due, longest), changed);
    } else {
      changed_.wait(lock, changed);
    }
  }
}

}  // namespace weft::coro
