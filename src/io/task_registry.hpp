#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include <weft/io/tracked_task.hpp>

namespace weft::io {

// Every task that was spawned and has not ended. Shards by thread, so that threads that spawn and
// end tasks rarely meet.
class task_registry {
 public:
  // False when close() came first.
  [[nodiscard]] bool enter(tracked_task& t) noexcept;
  // The task may go when this returns.
  void leave(tracked_task& t) noexcept;

  // Between these it is not empty: by whoever ends a task and may enter others then.
  void hold() noexcept;
  void let_go() noexcept;

  // One after another, each kept from ending meanwhile. The visitor must not call enter() or
  // leave().
  void visit(const std::function<void(tracked_task&)>& visitor) const;
  // Nothing enters any more, so stop_all() misses nothing.
  void close() noexcept;
  // Asks all of them to stop.
  void stop_all() const;

  // Tasks, ever. Asked in this order, no more have left than have entered.
  [[nodiscard]] std::uint64_t left() const noexcept;
  [[nodiscard]] std::uint64_t entered() const noexcept;
  // False when the deadline came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) const;
  void wait_until_empty() const;

 private:
  struct alignas(64) shard {
    mutable std::mutex mutex;
    // Guarded by mutex.
    tracked_task* first = nullptr;
    std::uint64_t entered = 0;
    std::uint64_t left = 0;
    std::uint64_t holds = 0;    // ever; each also counts as one that has entered,
    std::uint64_t let_gos = 0;  // and then as one that has left
    bool closed = false;
    mutable bool watched = false;  // somebody waits for the end: leave() tells
  };
  static constexpr unsigned shard_count = 16;
  static unsigned shard_of_this_thread() noexcept;
  template <class Unlink>
  void remove_one(shard& s, const Unlink& unlink) noexcept;
  // Over all shards.
  template <class Count>
  [[nodiscard]] std::uint64_t sum(const Count& of) const noexcept;
  void watch() const;
  [[nodiscard]] bool is_empty() const noexcept;

  std::array<shard, shard_count> shards_;
  mutable std::mutex waiting_mutex_;  // before any shard's
  mutable std::condition_variable changed_;
};

}  // namespace weft::io
