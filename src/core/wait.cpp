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
  WEFT_ASSERT(done.is_set(),
              "two threads wait at one future, group or permit; wait at it from one");
}

}  // namespace

void wait_for(latch& done) noexcept {
  if (worker* w = current_worker()) {
    w->wait_until(done);
  } else {
    block(done);
  }
}

void wait_without_helping(latch& done) noexcept {
  if (worker* w = current_worker()) {
    w->wait_without_helping(done);
  } else {
    block(done);
  }
}

void wait_for_result(latch& done, crew& c) noexcept {
  if (done.is_set()) return;  // before the crew is looked at: it may be gone
  if (c.is_deterministic()) {
    wait_for_lending(done, c);
  } else {
    wait_for(done);
  }
}

void wait_for_lending(latch& done, crew& c) noexcept {
  if (worker* w = current_worker()) {
    w->wait_until(done);
    return;
  }
  if (spin_briefly(done)) return;
  {
    const seat_loan seat(c);
    if (seat) {
      current_worker()->wait_until(done);
      return;
    }
  }
  block(done);
}

bool wait_for_until(latch& done, crew& c, std::chrono::steady_clock::time_point deadline) noexcept {
  if (done.is_set()) return true;  // before the crew is looked at: it may be gone
  if (c.is_deterministic()) {
    wait_for_lending(done, c);
    return true;
  }
  if (worker* w = current_worker()) return w->wait_until(done, deadline);
  if (spin_briefly(done)) return true;
  blocked_thread self;
  if (!done.try_register(self)) return true;
  if (self.wait_until(deadline)) return true;
  if (done.try_unregister(self)) return false;
  self.wait();  // set at the last moment: the setter holds our address until it has rung
  return true;
}

}  // namespace weft::detail
