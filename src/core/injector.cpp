#include <weft/core/injector.hpp>

#include <algorithm>

namespace weft::detail {

injector::injector() noexcept : newest_(&stub_), oldest_(&stub_) { stub_.call = nullptr; }

push_status injector::push(queued_job& job, std::size_t limit) noexcept {
  // One step decides: a push counted before close() is one that the last worker waits for.
  const std::size_t before = count_.fetch_add(1, std::memory_order_seq_cst);
  if (before >= limit) [[unlikely]] {  // the closed bit makes `before` larger than any limit
    count_.fetch_sub(1, std::memory_order_seq_cst);
    return (before & closed_bit) != 0 ? push_status::closed : push_status::full;
  }
  append(job);
  return push_status::pushed;
}

void injector::push_again(queued_job& job) noexcept {
  count_.fetch_add(1, std::memory_order_seq_cst);
  append(job);
}

void injector::close() noexcept { count_.fetch_or(closed_bit, std::memory_order_seq_cst); }

void injector::append(queued_job& job) noexcept {
  job.next.store(nullptr, std::memory_order_relaxed);  // nobody can reach it yet
  // acq_rel: the node we hang ours onto was initialised by the thread we take over from.
  queued_job* before = newest_.exchange(&job, std::memory_order_acq_rel);
  before->next.store(&job, std::memory_order_release);  // [A] publishes the job; pairs with [N]
}

queued_job* injector::take_one() noexcept {
  queued_job* first = oldest_;
  queued_job* second = first->next.load(std::memory_order_acquire);  // [N]
  if (first == &stub_) {
    if (second == nullptr) return nullptr;
    oldest_ = first = second;
    second = first->next.load(std::memory_order_acquire);  // [N]
  }
  if (second == nullptr) {
    // `first` may be the last one. It can be handed out only with a node behind it to stand on.
    if (newest_.load(std::memory_order_acquire) != first) return nullptr;  // a push is half done
    append(stub_);
    second = first->next.load(std::memory_order_acquire);  // [N]
    if (second == nullptr) return nullptr;                 // a push came between, half done
  }
  oldest_ = second;
  return first;
}

steal_result injector::take(deque_owner loot, std::size_t extra) noexcept {
  if (size() == 0) return {steal_status::empty};
  if (token_.exchange(true, std::memory_order_acquire)) {  // [K1] pairs with [K2]
    return {steal_status::lost_race};
  }
  std::array<queued_job*, largest_batch> batch;
  const std::size_t wanted = std::min(extra + 1, largest_batch);
  std::size_t taken = 0;
  while (taken < wanted) {
    queued_job* one = take_one();
    if (one == nullptr) break;
    batch[taken++] = one;
  }
  // Before the token goes: whoever finds the rest next must not count these again.
  if (taken > 0) count_.fetch_sub(taken, std::memory_order_seq_cst);
  token_.store(false, std::memory_order_release);  // [K2] publishes oldest_
  if (taken == 0) return {steal_status::lost_race};
  // The owner pops the newest first, so the second oldest goes in last.
  for (std::size_t i = taken - 1; i >= 1; --i) loot.push(job_ref::batchable(*batch[i]));
  return {steal_status::stolen, job_ref::batchable(*batch[0]), taken};
}

}  // namespace weft::detail
