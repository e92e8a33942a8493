#include <weft/core/task_group.hpp>

#include <mutex>

namespace weft {

struct task_group::first_error {
  std::mutex mutex;
  std::uint64_t position = ~std::uint64_t{0};
  std::exception_ptr error;
};

task_group::task_group() : task_group(pool::here()) {}

task_group::task_group(pool& p) noexcept : crew_(detail::crew_of(p)) {}

task_group::~task_group() {
  wait_for_all();
  delete error_.load(std::memory_order_acquire);
}

// relaxed: who spawns holds the group open, so the count cannot reach zero meanwhile.
void task_group::add() noexcept { pending_.fetch_add(1, std::memory_order_relaxed); }

void task_group::remove() noexcept {
  // [D] The last one sees what every other job has done, and shows it to the waiter with set().
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.set();
}

void task_group::wait_for_all() noexcept {
  // The owner gives up its own count. Alone, it is the last: nobody can be inside the group.
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    detail::wait_for_lending(done_, crew_);
  }
  pending_.store(1, std::memory_order_relaxed);  // no job is left that could look
  std::destroy_at(&done_);
  std::construct_at(&done_);
}

void task_group::wait() {
  wait_for_all();
  std::unique_ptr<first_error> failed(error_.exchange(nullptr, std::memory_order_acq_rel));
  if (failed) std::rethrow_exception(failed->error);
}

void task_group::note_error(std::uint64_t position, std::exception_ptr error) noexcept {
  first_error* box = error_.load(std::memory_order_acquire);
  if (box == nullptr) {
    auto made = std::make_unique<first_error>();
    // Publishes the box; the loser of the race uses the winner's.
    if (error_.compare_exchange_strong(box, made.get(), std::memory_order_acq_rel)) {
      box = made.release();
    }
  }
  const std::lock_guard lock(box->mutex);
  if (position < box->position) {
    box->position = position;
    box->error = std::move(error);
  }
}

}  // namespace weft
