#pragma once

#include <cstdint>

#include <weft/base/atomic.hpp>

namespace weft::flow {

// How far an attempt of an instance is, and so who may touch its coroutine: one word.
//
//   bits 3..31   the number of the attempt
//   bits 0..2    its phase
//
//   making      whoever starts it makes the coroutine, which nobody else may touch yet
//   withdrawn   was asked to stop while it was made; whoever makes it ends it
//   queued      in a lane, or on the way there
//   running     the coroutine has begun
//   held        as running; and somebody looks at the coroutine, which must not go meanwhile
//   stopping    as held; and somebody asks what it waits for to stop, which may run what others
//   have
//               asked to be told of that
//   over        the coroutine belongs to whoever has ended the attempt
//
//   making -> queued -> running -> over     running -> held -> running
//   making -> withdrawn                     running -> stopping -> running
//   queued -> over
//
// Threads: make() and queue() by whoever starts the attempt, begin() by whoever takes it out of the
// lane, end() by the coroutine; the others by anybody who keeps the instance alive. A number comes
// again after 2^29 attempts; whoever asks one to stop is not that slow.
class attempt_state {
 public:
  // The next attempt, when the one before is over. relaxed: others learn of it under the lock of
  // the group, or when it is queued [Q].
  void make(std::uint32_t number) noexcept {
    word_.store(word_of(number, phase::making), std::memory_order_relaxed);
  }

  // The coroutine is made. False: the attempt was withdrawn.
  [[nodiscard]] bool queue() noexcept {
    // [Q] release: publishes the coroutine to those who find the attempt queued or later.
    return go_on(phase::making, phase::queued, std::memory_order_release);
  }

  // By the lane. False: somebody has asked it to stop, and has ended it.
  [[nodiscard]] bool begin() noexcept {
    // [B] acquire: pairs with [Q], for lanes that hand the job over without an order of their own.
    return go_on(phase::queued, phase::running, std::memory_order_acquire);
  }

  // It was not queued after all. False: as for begin().
  [[nodiscard]] bool take_back() noexcept {
    return go_on(phase::queued, phase::over, std::memory_order_relaxed);  // this thread has made it
  }

  // The coroutine has ended. Waits for who looks at it, or asks it to stop: most often that takes a
  // lock or two, and there is nothing better to do meanwhile.
  void end() noexcept {
    // [E] acquire: pairs with [L], so that the coroutine goes after that was done with it.
    while (!go_on(phase::running, phase::over, std::memory_order_acquire)) yield_thread();
  }

  enum class reached : std::uint8_t {
    nothing,    // that attempt is over, was withdrawn before, or is being asked by somebody else
    its_maker,  // who will end it
    queued,     // the caller ends it
    running,    // the caller holds the coroutine until let_go()
  };
  // Asks the attempt with that number to stop.
  [[nodiscard]] reached stop(std::uint32_t number) noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen >> phase_bits != (number & number_max)) return reached::nothing;
      switch (phase_in(seen)) {
        case phase::making:
          if (change(seen, phase::withdrawn)) return reached::its_maker;
          break;
        case phase::queued:
          if (change(seen, phase::over)) return reached::queued;
          break;
        case phase::running:
          if (change(seen, phase::stopping)) return reached::running;
          break;
        case phase::held:
          yield_thread();
          seen = word_.load(std::memory_order_relaxed);
          break;
        default:
          return reached::nothing;
      }
    }
  }

  // Keeps the coroutine until let_go(). False: it does not run.
  [[nodiscard]] bool hold() noexcept { return hold(while_stopping::wait); }
  // As hold(), for those who can do without: false also while somebody asks it to stop. That may
  // run what looks at the same coroutine.
  [[nodiscard]] bool hold_to_look() noexcept { return hold(while_stopping::decline); }
  void let_go() noexcept {
    // Nobody else changes what is held.
    const std::uint32_t held = word_.load(std::memory_order_relaxed);
    // [L] release: what was done with the coroutine comes before its end [E], and before what the
    // next one does who holds it.
    word_.store(with_phase(held, phase::running), std::memory_order_release);
  }

  // Whether the coroutine was made. acquire: pairs with [Q].
  [[nodiscard]] bool is_made() const noexcept {
    const phase now = phase_in(word_.load(std::memory_order_acquire));
    return now == phase::queued || now == phase::running || now == phase::held ||
           now == phase::stopping;
  }

 private:
  enum class phase : std::uint8_t { over, making, withdrawn, queued, running, held, stopping };
  static constexpr unsigned phase_bits = 3;
  static constexpr std::uint32_t phase_mask = (1U << phase_bits) - 1;
  static constexpr std::uint32_t number_max = ~0U >> phase_bits;

  static std::uint32_t word_of(std::uint32_t number, phase p) noexcept {
    return number << phase_bits | static_cast<std::uint32_t>(p);
  }
  static phase phase_in(std::uint32_t word) noexcept {
    return static_cast<phase>(word & phase_mask);
  }
  static std::uint32_t with_phase(std::uint32_t word, phase p) noexcept {
    return (word & ~phase_mask) | static_cast<std::uint32_t>(p);
  }

  enum class while_stopping : std::uint8_t { wait, decline };
  [[nodiscard]] bool hold(while_stopping what) noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      const phase now = phase_in(seen);
      if (now == phase::running) {
        if (change(seen, phase::held)) return true;
      } else if (now == phase::held || (now == phase::stopping && what == while_stopping::wait)) {
        yield_thread();
        seen = word_.load(std::memory_order_relaxed);
      } else {
        return false;
      }
    }
  }

  // By those who know the attempt: its number does not change meanwhile.
  [[nodiscard]] bool go_on(phase from, phase to, std::memory_order order) noexcept {
    std::uint32_t seen = with_phase(word_.load(std::memory_order_relaxed), from);
    return word_.compare_exchange_strong(seen, with_phase(seen, to), order,
                                         std::memory_order_relaxed);
  }
  // By the others.
  [[nodiscard]] bool change(std::uint32_t& seen, phase to) noexcept {
    // [H] acquire: the coroutine that [Q] published, and what the last one did who held it [L].
    return word_.compare_exchange_weak(seen, with_phase(seen, to), std::memory_order_acquire,
                                       std::memory_order_relaxed);
  }

  // Written by those who start, run and stop the attempt. Publishes its coroutine.
  atomic<std::uint32_t> word_{0};
};

}  // namespace weft::flow
