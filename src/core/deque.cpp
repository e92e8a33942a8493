#include <weft/core/deque.hpp>

#include <algorithm>
#include <new>

#include <weft/base/assert.hpp>

namespace weft::detail {

// A ring of slots. Outgrown buffers stay in a chain until the deque dies, because a thief may still
// be reading one: together they are smaller than the buffer in use.
struct deque::buffer {
  explicit buffer(std::int64_t slots_count)
      : capacity(slots_count),
        slots(new atomic<std::uintptr_t>[static_cast<std::size_t>(slots_count)]) {}

  atomic<std::uintptr_t>& slot(std::int64_t index) const noexcept {
    return slots[static_cast<std::size_t>(index & (capacity - 1))];
  }

  const std::int64_t capacity;  // a power of two
  std::unique_ptr<buffer> previous;
  // Written by the owner, read by thieves before they know whether the job is theirs. Hence atomic.
  std::unique_ptr<atomic<std::uintptr_t>[]> slots;
};

deque::deque(std::int64_t capacity, bool fenced) : fenced_(fenced), buffer_(nullptr) {
  auto* first = new buffer(capacity);
  slots_ = first->slots.get();
  mask_ = capacity - 1;
  limit_ = capacity;
  buffer_.store(first, std::memory_order_relaxed);  // no other thread knows this deque yet
}

deque::~deque() { delete buffer_.load(std::memory_order_relaxed); }

job_ref deque_owner::pop() noexcept {
  const std::int64_t b = d_.bottom_.load(std::memory_order_relaxed) - 1;
  if (b < d_.top_.load(std::memory_order_relaxed)) return {};  // top never falls: surely empty
  d_.bottom_.store(b, std::memory_order_relaxed);
  light_fence();  // [T1], as in try_take_back()
  auto job_at = [this](std::int64_t index) noexcept {
    return job_ref::from_bits(d_.slots_[index & d_.mask_].load(std::memory_order_relaxed));
  };
  if (b >= d_.split_.load(std::memory_order_relaxed)) return job_at(b);

  // [S] Lowers the public end to b, which takes job b away from every thief that looks from now on,
  // and cancels a seizure under way (its last step finds its ticket gone). What was private below b
  // becomes public with it. seq_cst against [L] in steal(): either a thief sees this split, or the
  // load of top below sees the thief.
  d_.split_.exchange(b, std::memory_order_seq_cst);
  std::int64_t t = d_.top_.load(std::memory_order_seq_cst);
  if (t < b) return job_at(b);

  // At most one job was left: whoever moves top gets it.
  const job_ref last = t == b ? job_at(b) : job_ref{};
  const bool won = t == b && d_.top_.compare_exchange_strong(t, b + 1, std::memory_order_seq_cst,
                                                             std::memory_order_relaxed);
  d_.bottom_.store(b + 1, std::memory_order_relaxed);
  d_.split_.exchange(b + 1, std::memory_order_seq_cst);  // top is b + 1 now: empty, in every index
  return won ? last : job_ref{};
}

job_ref deque_owner::newest() const noexcept {
  const std::int64_t b = d_.bottom_.load(std::memory_order_relaxed) - 1;
  if (b < d_.top_.load(std::memory_order_relaxed)) return {};
  return job_ref::from_bits(d_.slots_[b & d_.mask_].load(std::memory_order_relaxed));
}

bool deque_owner::publish_some(std::int64_t least_batch) noexcept {
  const std::int64_t b = d_.bottom_.load(std::memory_order_relaxed);
  if (d_.fenced_) {
    publish_all();
    return d_.top_.load(std::memory_order_relaxed) < b;
  }
  std::int64_t s = d_.split_.load(std::memory_order_relaxed);
  if (deque::is_ticket(s)) return true;  // a thief is doing it
  if (d_.top_.load(std::memory_order_relaxed) < s) return true;
  if (s == b) return false;
  std::int64_t count = 1;
  const auto oldest = job_ref::from_bits(d_.slots_[s & d_.mask_].load(std::memory_order_relaxed));
  if (oldest.is_batchable()) {
    if (b - s < least_batch) return false;
    count = (b - s + 1) / 2;
  }
  // [S] Publishes the slots up to s + count. Fails only when a thief seized: then it publishes all.
  d_.split_.compare_exchange_strong(s, s + count, std::memory_order_seq_cst,
                                    std::memory_order_relaxed);
  return true;
}

void deque_owner::publish_all() noexcept {
  // [S] Raises split, or leaves it: the owner pops nothing here. Cancels a seizure, doing its work.
  d_.split_.exchange(d_.bottom_.load(std::memory_order_relaxed), std::memory_order_seq_cst);
}

job_ref deque_owner::take_oldest() noexcept {
  publish_all();
  return deque_thief(d_).steal().job;
}

std::int64_t deque_owner::size() const noexcept {
  return std::max<std::int64_t>(
      0, d_.bottom_.load(std::memory_order_relaxed) - d_.top_.load(std::memory_order_relaxed));
}

void deque_owner::make_room(deque& d) noexcept {
  WEFT_ASSERT(try_make_room(d), "no memory for another fork in this worker's deque");
}

bool deque_owner::try_make_room(deque& d) noexcept {
  const std::int64_t b = d.bottom_.load(std::memory_order_relaxed);  // own variable
  const std::int64_t capacity = d.mask_ + 1;
  // [R] acquire: the thief that moved top has read its slot, which may be overwritten now.
  const std::int64_t t = d.top_.load(std::memory_order_acquire);
  if (b - t < capacity) {
    d.limit_ = t + capacity;
    return true;
  }
  auto* old = d.buffer_.load(std::memory_order_relaxed);  // own variable
  deque::buffer* grown = nullptr;
  try {
    grown = new deque::buffer(capacity * 2);
  } catch (const std::bad_alloc&) {
    return false;
  }
  grown->previous.reset(old);
  for (std::int64_t i = t; i < b; ++i) {
    grown->slot(i).store(old->slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  d.slots_ = grown->slots.get();
  d.mask_ = capacity * 2 - 1;
  d.limit_ = t + capacity * 2;
  // [G] Publishes the copied slots; pairs with [L3]. A thief that still holds the old buffer reads
  // the same jobs there: the owner never writes to it again.
  d.buffer_.store(grown, std::memory_order_release);
  return true;
}

steal_result deque_thief::steal() noexcept { return steal_if(false); }

steal_result deque_thief::steal_if(bool only_batchable) noexcept {
  // [L] top first, then split, both seq_cst: the order the argument in deque.md rests on.
  std::int64_t t = d_.top_.load(std::memory_order_seq_cst);
  const std::int64_t s = d_.split_.load(std::memory_order_seq_cst);
  if (deque::is_ticket(s)) return {steal_status::lost_race};
  if (t >= s) return {steal_status::empty};
  // [L3] Pairs with [G].
  const deque::buffer* from = d_.buffer_.load(std::memory_order_acquire);
  // Read before the CAS: afterwards the owner may reuse the slot.
  const auto job = job_ref::from_bits(from->slot(t).load(std::memory_order_relaxed));
  if (only_batchable && !job.is_batchable()) return {steal_status::empty};
  if (!d_.top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) {
    return {steal_status::lost_race};
  }
  return {steal_status::stolen, job, 1};
}

steal_result deque_thief::steal_batch(deque_owner loot) noexcept {
  constexpr std::int64_t largest_batch = 32;
  const std::int64_t available = size();
  steal_result first = steal_if(false);
  if (first.status != steal_status::stolen || !first.job.is_batchable()) return first;
  const std::int64_t wanted = std::min(largest_batch, available / 2);
  for (; static_cast<std::int64_t>(first.count) < wanted; ++first.count) {
    const steal_result more = steal_if(true);
    if (more.status != steal_status::stolen) break;
    loot.push(more.job);
  }
  return first;
}

bool deque_thief::seize() noexcept {
  if (d_.fenced_) return false;  // nothing is private for long
  std::int64_t s = d_.split_.load(std::memory_order_seq_cst);
  if (deque::is_ticket(s) || d_.bottom_.load(std::memory_order_relaxed) <= s) return false;
  std::int64_t ticket = d_.next_ticket_.fetch_add(1, std::memory_order_relaxed);  // unique, no more
  if (!d_.split_.compare_exchange_strong(s, ticket, std::memory_order_seq_cst,
                                         std::memory_order_relaxed)) {
    return false;
  }
  // [T2] After the fence every pop of the owner either sees the ticket and cancels it, or happened
  // before and shows in bottom.
  heavy_fence();
  // [B] Pairs with [P]: every job below the value read is in its slot.
  const std::int64_t b = d_.bottom_.load(std::memory_order_acquire);
  return d_.split_.compare_exchange_strong(ticket, b, std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
}

bool deque_thief::has_public_jobs() const noexcept {
  const std::int64_t t = d_.top_.load(std::memory_order_relaxed);  // a hint, like every look inside
  return t < d_.split_.load(std::memory_order_relaxed);
}

bool deque_thief::has_jobs() const noexcept {
  const std::int64_t t = d_.top_.load(std::memory_order_seq_cst);
  // Where forks are fenced, it is the seq_cst split that shows a job (sleep.md).
  return t < d_.split_.load(std::memory_order_seq_cst) ||
         t < d_.bottom_.load(std::memory_order_seq_cst);
}

std::int64_t deque_thief::size() const noexcept {
  const std::int64_t t = d_.top_.load(std::memory_order_relaxed);
  return std::max<std::int64_t>(0, d_.bottom_.load(std::memory_order_relaxed) - t);
}

}  // namespace weft::detail
