#pragma once

#include <cstdint>

#include <weft/base/atomic.hpp>

namespace weft::detail {

// What becomes of a job that a worker has taken.
enum class job_fate : std::uint8_t { run, drop };

// A unit of work, called exactly once, by the thread that took it out of a queue.
//
// `call` catches what user code throws, and signals completion last: afterwards the job is gone.
// A stack_job (join) lives in the frame that forked it; a queued_job lives on the heap or in the
// frame of a caller that waits for it, and destroys itself where it is on the heap.
struct job {
  using call_fn = void (*)(job& self, job_fate fate) noexcept;
  call_fn call;
};

// A job that may travel through the injector, where it is its own list node.
struct queued_job : job {
  // Written by the producer that appends the next job, read by the taker: publishes that job.
  atomic<queued_job*> next{nullptr};
};

// Jobs in a row, for an owner that locks.
class job_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push_back(queued_job& job) noexcept {
    job.next.store(nullptr, std::memory_order_relaxed);  // here and below: the owner's lock orders
    if (first_ == nullptr) {
      first_ = &job;
    } else {
      last_->next.store(&job, std::memory_order_relaxed);
    }
    last_ = &job;
  }
  // Null when there is none, as for pop_front().
  [[nodiscard]] queued_job* front() const noexcept { return first_; }
  [[nodiscard]] queued_job* pop_front() noexcept {
    queued_job* const job = first_;
    if (job != nullptr) first_ = job->next.load(std::memory_order_relaxed);
    return job;
  }
  void append(job_list others) noexcept {
    if (others.empty()) return;
    if (first_ == nullptr) {
      first_ = others.first_;
    } else {
      last_->next.store(others.first_, std::memory_order_relaxed);
    }
    last_ = others.last_;
  }
  [[nodiscard]] job_list take_all() noexcept {
    const job_list all = *this;
    first_ = nullptr;
    return all;
  }

 private:
  queued_job* first_ = nullptr;
  queued_job* last_ = nullptr;  // undefined when empty
};

// What a deque slot holds: the job, and whether thieves may take it in batches. The mark sits in
// the pointer because a thief must know before it owns the job, when it may not look inside.
class job_ref {
 public:
  job_ref() = default;
  static job_ref single(job& j) noexcept { return job_ref(reinterpret_cast<std::uintptr_t>(&j)); }
  static job_ref batchable(job& j) noexcept {
    return job_ref(reinterpret_cast<std::uintptr_t>(&j) | batchable_bit);
  }

  [[nodiscard]] bool is_batchable() const noexcept { return (bits_ & batchable_bit) != 0; }
  [[nodiscard]] job* get() const noexcept { return reinterpret_cast<job*>(bits_ & ~batchable_bit); }
  explicit operator bool() const noexcept { return bits_ != 0; }
  friend bool operator==(job_ref, job_ref) = default;

  [[nodiscard]] std::uintptr_t bits() const noexcept { return bits_; }
  static job_ref from_bits(std::uintptr_t bits) noexcept { return job_ref(bits); }

 private:
  static constexpr std::uintptr_t batchable_bit = 1;
  explicit job_ref(std::uintptr_t bits) noexcept : bits_(bits) {}
  std::uintptr_t bits_ = 0;
};

}  // namespace weft::detail
