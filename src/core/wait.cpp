#include <sched.h>

#include <weft/base/assert.hpp>
#include <weft/core/bell.hpp>
#include <weft/core/crew_access.hpp>

#include "crew.hpp"
#include "worker.hpp"

// How a thread waits for a latch: a worker helps, any other thread spins for a moment and blocks.

namespace weft::detail {
namespace {

// A thread that is no worker, blocked at a latch.
class blocked_thread final : public waiter {
 public:
  void wait() noexcept { bell_.wait(); }
  bool wait_until(std::chrono::steady_clock::time_point deadline) noexcept {
    return bell_.wait_until(deadline).has_value();
  }

 private:
  void wake() noexcept override { bell_.ring(1); }
  bell bell_;
};

// A latch that cannot be registered at must be set.
void require_one_waiter(const latch& done) noexcept {
  WEFT_ASSERT(done.is_set(),
              "two threads wait at one future, group or permit; wait at it from one");
}

// About 2 us. Longer would keep the CPU from the worker that is to be waited for.
bool spin_briefly(const latch& done) noexcept {
  for (int i = 0; i < 100; ++i) {
    if (done.is_set()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return done.is_set();
}

void block(latch& done) noexcept {
  if (spin_briefly(done)) return;
  blocked_thread self;
  if (done.try_register(self)) return self.wait();
  require_one_waiter(done);
}

}  // namespace

void wait_without_helping(latch& done) noexcept {
  if (worker* w = current_worker()) {
    w->wait_without_helping(done);
  } else {
    block(done);
  }
}

namespace {

// A pool without threads: the calling thread runs its jobs, in turns with others that do the same.
template <class GivesUp>
bool drive(crew& c, latch& done, GivesUp gives_up) noexcept {
  if (current_crew() == &c) {
    current_worker()->wait_until(done);
    return true;
  }
  while (!done.is_set()) {
    {
      const seat_loan seat(c);
      if (seat) current_worker()->run_until(done);
    }
    if (done.is_set()) break;
    if (gives_up()) return false;
    ::sched_yield();
  }
  return true;
}

// The worker that can help while this thread waits for something that is not its pool's own. One of
// a deterministic pool cannot: there, only that pool's jobs may run.
worker* helper() noexcept {
  worker* const w = current_worker();
  return w != nullptr && !w->home().is_deterministic() ? w : nullptr;
}

}  // namespace

void wait_for_result(latch& done, crew& c, bool deterministic) noexcept {
  if (done.is_set()) return;
  if (deterministic) {
    drive(c, done, [] { return false; });
  } else if (worker* w = helper()) {
    w->wait_until(done);
  } else {
    block(done);
  }
}

void wait_for_lending(latch& done, crew& c) noexcept {
  if (c.is_deterministic()) {
    drive(c, done, [] { return false; });
    return;
  }
  if (worker* w = helper()) return w->wait_until(done);
  if (spin_briefly(done)) return;
  {
    const seat_loan seat(c);
    if (seat) return current_worker()->wait_until(done);
  }
  block(done);
}

bool wait_for_result_until(latch& done, crew& c, bool deterministic,
                           std::chrono::steady_clock::time_point deadline) noexcept {
  if (done.is_set()) return true;
  if (deterministic) {
    return drive(c, done, [=] { return std::chrono::steady_clock::now() >= deadline; });
  }
  if (worker* w = helper()) return w->wait_until(done, deadline);
  if (spin_briefly(done)) return true;
  blocked_thread self;
  if (!done.try_register(self)) {
    require_one_waiter(done);
    return true;
  }
  if (self.wait_until(deadline)) return true;
  if (done.try_unregister(self)) return false;
  self.wait();  // set at the last moment: the setter holds our address until it has rung
  return true;
}

}  // namespace weft::detail
