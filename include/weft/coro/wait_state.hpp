#pragma once

#include <cstdint>

#include <weft/base/atomic.hpp>
#include <weft/core/job.hpp>

namespace weft::coro {

class promise_base;

// Something a task waits for and can be called away from. Lives in the frame of that task.
class wait {
 public:
  // Asks to end the wait early. Adds to `released` the tasks with which nobody else will go on:
  // this one, if the wait has begun and is over, or those of chains that this one waits for. A wait
  // that has not begun must see later that it was called off. Called once at most, while the frame
  // is kept from going on; so it must not go on with it itself.
  virtual void give_up(detail::job_list& released) noexcept = 0;
  // For people: "a permit", "a timer".
  [[nodiscard]] virtual const char* what() const noexcept = 0;

  // The task that waits.
  promise_base* task = nullptr;

 protected:
  ~wait() = default;
};

// What a chain of tasks waits for, and whether it was asked to stop: one word.
//
//   bits 3..63   the address of the wait; 0 while the chain runs or is queued in a lane
//   bit 0        stopped: it was asked to stop; is never taken back
//   bit 1        stopping: somebody is inside give_up(), the wait must not go away
//   bit 2        read: somebody is inside what(), likewise
//
// Threads: begin() and end() by the chain; stop() and what() by whoever knows the chain alive,
// what() by one at a time; is_stopped() by all of these.
class wait_state {
 public:
  // False when the chain was asked to stop: do not wait.
  [[nodiscard]] bool begin(wait& w) noexcept {
    std::uintptr_t running = 0;
    // [B] release: publishes the wait to whoever takes hold of it with [H].
    return word_.compare_exchange_strong(running, reinterpret_cast<std::uintptr_t>(&w),
                                         std::memory_order_release, std::memory_order_relaxed);
  }

  // After the wait, before its frame goes on. Waits for those who look at it: they take a lock and
  // unlink, or copy an address, so there is nothing better to do meanwhile.
  void end() noexcept {
    // [E] acquire: pairs with [L] of whoever has let go before.
    std::uintptr_t seen = word_.fetch_and(flags, std::memory_order_acquire);
    while ((seen & (stopping | read)) != 0) {
      yield_thread();
      seen = word_.load(std::memory_order_acquire);  // [E]
    }
  }

  // Asks the chain to stop. The caller goes on with the tasks that this adds to `released`.
  void stop(detail::job_list& released) noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & stopped) != 0) return;
      wait* const w = wait_in(seen);
      // [H] acquire: the wait that [B] published.
      if (word_.compare_exchange_weak(seen, seen | stopped | (w != nullptr ? stopping : 0),
                                      std::memory_order_acquire, std::memory_order_relaxed)) {
        if (w == nullptr) return;
        w->give_up(released);
        return let_go(stopping);
      }
    }
  }

  // What is waited for, or null when the chain runs. The text is a constant.
  [[nodiscard]] const char* what() noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      wait* const w = wait_in(seen);
      if (w == nullptr) return nullptr;
      // [H] as above.
      if (word_.compare_exchange_weak(seen, seen | read, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        const char* const text = w->what();
        let_go(read);
        return text;
      }
    }
  }

  [[nodiscard]] bool is_stopped() const noexcept {
    return (word_.load(std::memory_order_relaxed) & stopped) != 0;  // a flag, publishes nothing
  }

 private:
  static constexpr std::uintptr_t stopped = 1;
  static constexpr std::uintptr_t stopping = 2;
  static constexpr std::uintptr_t read = 4;
  static constexpr std::uintptr_t flags = stopped | stopping | read;

  static wait* wait_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<wait*>(word & ~flags);
  }

  void let_go(std::uintptr_t flag) noexcept {
    // [L] release: what was done to the wait comes before the chain goes on with [E].
    word_.fetch_and(~flag, std::memory_order_release);
  }

  // Written by the chain and by those who hold its wait. Publishes the wait.
  atomic<std::uintptr_t> word_{0};
};

}  // namespace weft::coro
