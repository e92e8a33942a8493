#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <weft/base/atomic.hpp>
#include <weft/core/deque.hpp>
#include <weft/core/job.hpp>

namespace weft::detail {

enum class push_status : std::uint8_t { pushed, full, closed };

// FIFO of jobs that come from outside the workers.
//
// Producers append with one exchange and never wait (Vyukov's intrusive queue: the job is the node,
// nothing is allocated). Takers pass a token: a worker that finds it taken does not wait, it looks
// elsewhere and reports lost_race. The token holder takes a batch, so it changes hands rarely.
//
// Order: first in, first out, per producer and between pushes that did not overlap.
// Threads: any. Lifetime: jobs left inside are the owner's to drop before the injector dies.
class injector {
 public:
  injector() noexcept;

  // Appends unless closed or `limit` jobs are waiting already.
  [[nodiscard]] push_status push(queued_job& job, std::size_t limit = no_limit) noexcept;

  // Appends in any case: for work that was accepted before.
  void push_again(queued_job& job) noexcept;

  // From now on push() refuses. Jobs inside can still be taken.
  void close() noexcept;

  // Takes the oldest job and moves up to `extra` more into `loot`, oldest on top.
  [[nodiscard]] steal_result take(deque_owner loot, std::size_t extra) noexcept;

  // Counts pushes that have begun, so zero means empty. Others may see it change at once.
  [[nodiscard]] std::size_t size() const noexcept {
    return count_.load(std::memory_order_seq_cst) & ~closed_bit;
  }

  static constexpr std::size_t largest_batch = 32;
  static constexpr std::size_t no_limit = ~std::size_t{0} >> 1;

 private:
  static constexpr std::size_t closed_bit = ~(~std::size_t{0} >> 1);

  queued_job* take_one() noexcept;  // token held; null when empty or a push is half done
  void append(queued_job& job) noexcept;

  // Jobs inside, and whether the door is shut. Producers add, takers subtract. seq_cst: a worker
  // that announced its sleep and then reads zero here is seen by the producer that adds afterwards
  // (sleep.md).
  alignas(64) atomic<std::size_t> count_{0};
  // Producers exchange the newest node; publishes nothing by itself, `next` does.
  alignas(64) atomic<queued_job*> newest_;
  // True while a taker works at the old end. Publishes oldest_ to the next holder.
  alignas(64) atomic<bool> token_{false};
  queued_job* oldest_;  // token holder only
  queued_job stub_;     // keeps the list non-empty
};

}  // namespace weft::detail
