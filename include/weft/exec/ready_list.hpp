#pragma once

#include <chrono>
#include <mutex>
#include <utility>

#include <weft/core/crew_access.hpp>
#include <weft/core/latch.hpp>

namespace weft::detail {

// Things that are done, in the order in which that happened.
//
// Threads: push() from any, the rest from the one consumer. Blocks: pop_until(); a worker helps.
class ready_list {
 public:
  struct node {
    node* next_ready = nullptr;
  };

  void push(node& n) noexcept {
    latch* consumer = nullptr;
    {
      const std::lock_guard lock(mutex_);
      n.next_ready = nullptr;
      (first_ == nullptr ? first_ : last_->next_ready) = &n;
      last_ = &n;
      consumer = std::exchange(waiting_, nullptr);
    }
    if (consumer != nullptr) consumer->set();
  }

  // Null when there is none.
  node* try_pop() noexcept {
    const std::lock_guard lock(mutex_);
    return take_first();
  }

  // Null when the deadline came first. `home` makes what is waited for; it is only touched when it
  // is deterministic, and so has to be driven.
  node* pop_until(std::chrono::steady_clock::time_point deadline, crew& home,
                  bool deterministic) noexcept {
    for (;;) {
      latch pushed;
      {
        const std::lock_guard lock(mutex_);
        if (node* const n = take_first()) return n;
        waiting_ = &pushed;
      }
      if (wait(pushed, deadline, home, deterministic)) continue;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_ == &pushed) {
          waiting_ = nullptr;
          return nullptr;
        }
      }
      // Taken at the last moment by somebody who is about to set it.
      static_cast<void>(
          wait(pushed, std::chrono::steady_clock::time_point::max(), home, deterministic));
    }
  }

 private:
  static bool wait(latch& done, std::chrono::steady_clock::time_point deadline, crew& home,
                   bool deterministic) noexcept {
    if (deadline != std::chrono::steady_clock::time_point::max()) {
      return wait_for_result_until(done, home, deterministic, deadline);
    }
    wait_for_result(done, home, deterministic);
    return true;
  }
  node* take_first() noexcept {
    node* const n = first_;
    if (n != nullptr) first_ = n->next_ready;
    return n;
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  node* first_ = nullptr;
  node* last_ = nullptr;
  latch* waiting_ = nullptr;  // of the consumer
};

}  // namespace weft::detail
