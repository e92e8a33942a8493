#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <weft/base/atomic.hpp>
#include <weft/core/asymmetric_fence.hpp>
#include <weft/core/job.hpp>

namespace weft::detail {

enum class steal_status : std::uint8_t { stolen, empty, lost_race };

struct steal_result {
  steal_status status;
  job_ref job = {};       // only when stolen
  std::size_t count = 0;  // jobs taken, this one included
};

// A Chase-Lev deque whose newest jobs are private to the owner until somebody wants them.
//
//        top            split                bottom
//         |   public      |      private       |
//   ------+---------------+--------------------+------>  index, 64 bit, only the low bits pick a
//   slot
//     thieves take here        owner pushes and pops here
//
// The public part [top, split) is the deque of Chase and Lev (SPAA 2005) with the orderings of Le,
// Pop, Cohen and Zappa Nardelli (PPoPP 2013), `split` standing where they have `bottom`. Pushing
// and popping privately costs no fence and no read-modify-write. The owner publishes when a worker
// is idle; a thief that finds an owner busy in a long job publishes on its behalf (seize). The
// argument is in src/core/deque.md.
//
// Invariants, whenever the owner is outside the deque:
//   1. top <= split <= bottom, unless split holds a seizure ticket.
//   2. bottom - top <= capacity, and every index in [top, bottom) has its job in the buffer.
//   3. Only the owner writes bottom and buffer. Only the owner lowers split. Nobody lowers top.
//
// Threads: deque_owner for the one thread that occupies the worker, deque_thief for everyone else.
class deque {
 public:
  static constexpr std::int64_t initial_capacity = 64;

  // `fenced` makes every push public and every pop a fenced one: for kernels without membarrier.
  explicit deque(std::int64_t capacity = initial_capacity, bool fenced = false);
  // One slot, never full, for all threads that have no deque: what is pushed is forgotten, and no
  // mark equals one of a real deque. See fork_context.
  struct bottomless {};
  template <class Slot = atomic<std::uintptr_t>>  // a template is only constexpr where it can be
  constexpr deque(bottomless, Slot& slot) noexcept
      : bottom_(-first_ticket),
        limit_(0),
        slots_(&slot),
        mask_(0),
        fenced_(false),
        split_(-first_ticket),
        buffer_(nullptr) {}
  ~deque();
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;

 private:
  friend class deque_owner;
  friend class deque_thief;

  struct buffer;

  // Split values from here on are tickets of a seizure in progress: larger than any index, so that
  // the owner's comparison `index < split` sends it to the slow path without a second test.
  static constexpr std::int64_t first_ticket = std::int64_t{1} << 62;
  static bool is_ticket(std::int64_t split) noexcept { return split >= first_ticket; }

  // -- the owner's cache line ---------------------------------------------------------------------
  // Written by the owner at every push and pop, read by thieves that look for private jobs.
  alignas(64) atomic<std::int64_t> bottom_{0};
  std::int64_t limit_ = 0;         // owner only: the push at this index must look for room first
  atomic<std::uintptr_t>* slots_;  // owner only: the current buffer's slots
  std::int64_t mask_;              // owner only: the current buffer's capacity - 1
  const bool fenced_;

  // -- read by the owner at every pop, written when jobs become public ----------------------------
  alignas(64) atomic<std::int64_t> split_{0};
  atomic<buffer*> buffer_;  // written by the owner when it grows, publishes the copied slots

  // -- written by whoever takes the oldest job ----------------------------------------------------
  alignas(64) atomic<std::int64_t> top_{0};
  atomic<std::int64_t> next_ticket_{
      first_ticket};  // counts seizures, so that no two share a ticket
};

// The owner's half: push and pop at the young end, publish at the other.
class deque_owner {
 public:
  explicit deque_owner(deque& d) noexcept : d_(d) {}

  // Adds a job and returns the mark just above it. May allocate when the buffer is full; if that
  // fails the program ends with a message, for a fork has no way to report it.
  std::int64_t push(job_ref job) noexcept {
    const std::int64_t b = d_.bottom_.load(std::memory_order_relaxed);  // own variable
    if (b == d_.limit_) [[unlikely]]
      make_room(d_);
    // relaxed: [P] below publishes it.
    d_.slots_[b & d_.mask_].store(job.bits(), std::memory_order_relaxed);
    // [P] Publishes the slot. Pairs with [B] in seize() and with the owner's own [S] stores.
    d_.bottom_.store(b + 1, std::memory_order_release);
    return b + 1;
  }

  // Sees to it that the next push finds room. False when that takes memory and there is none.
  [[nodiscard]] bool has_room() noexcept {
    return d_.bottom_.load(std::memory_order_relaxed) != d_.limit_ || try_make_room(d_);
  }

  // Takes back the job below the mark if it is the newest one and still private. Anything else,
  // stolen, public or buried under newer jobs, is left to pop().
  [[nodiscard]] bool try_take_back(std::int64_t mark) noexcept {
    if (d_.bottom_.load(std::memory_order_relaxed) != mark) [[unlikely]]
      return false;

    // [T1] Announces the intent, then looks whether the job is still private: the owner's half of
    // the asymmetric pair with [T2] in seize(). Storing what the mark says, rather than the value
    // loaded, keeps the next push from waiting for that load.
    d_.bottom_.store(mark - 1, std::memory_order_relaxed);
    light_fence();
    if (mark <= d_.split_.load(std::memory_order_relaxed)) [[unlikely]] {
      d_.bottom_.store(mark, std::memory_order_relaxed);  // nobody but the owner writes it
      return false;
    }
    return true;
  }

  // Takes the newest job, public or private.
  [[nodiscard]] job_ref pop() noexcept;

  // Makes jobs public because somebody is idle: nothing while a public one is left, else the oldest
  // private job, or half of the private part when that job may travel in batches and there are
  // `least_batch` of them. Returns whether a public job is there now.
  bool publish_some(std::int64_t least_batch = 1) noexcept;

  // Makes every job public. The owner is about to leave or to block.
  void publish_all() noexcept;

  [[nodiscard]] bool is_fenced() const noexcept { return d_.fenced_; }
  // Publishes everything and takes the oldest job, as a thief would. A worker that waits must take
  // forks of its own frames this way: pop() would free the index, the next push would use it again,
  // and the frame would take that job back for its own.
  [[nodiscard]] job_ref take_oldest() noexcept;
  // What pop() would take if no thief comes first.
  [[nodiscard]] job_ref newest() const noexcept;
  [[nodiscard]] std::int64_t size() const noexcept;

 private:
  // Static, so that the fast path never needs the address of this handle.
  [[gnu::cold]] static void make_room(deque& d) noexcept;
  [[gnu::cold]] static bool try_make_room(deque& d) noexcept;

  deque& d_;
};

// Everyone else's half: take the oldest public job.
class deque_thief {
 public:
  explicit deque_thief(deque& d) noexcept : d_(d) {}

  [[nodiscard]] steal_result steal() noexcept;

  // Takes the oldest job; when it is batchable also moves up to half of the batchable ones behind
  // it, at most 32, into `loot`. One at a time: the owner pops without a lock, so no single step
  // may claim more than one index.
  [[nodiscard]] steal_result steal_batch(deque_owner loot) noexcept;

  // Publishes all private jobs of an owner that does not answer. False when the owner or another
  // thief got in between, or there was nothing to publish. Calls heavy_fence().
  bool seize() noexcept;

  [[nodiscard]] bool has_public_jobs() const noexcept;
  // Any job at all. Reads the owner's cache line: for scans, not for spinning.
  [[nodiscard]] bool has_jobs() const noexcept;
  [[nodiscard]] std::int64_t size() const noexcept;

 private:
  steal_result steal_if(bool only_batchable) noexcept;

  deque& d_;
};

}  // namespace weft::detail
