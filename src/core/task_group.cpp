#include <weft/core/task_group.hpp>

#include <mutex>

namespace weft {

struct task_group::first_error {
  std::mutex mutex;
  std::uint64_t position = ~std::uint64_t{0};
  std::exception_ptr error;
};

namespace {

// An address that no other living thread has.
const void* this_thread() noexcept {
  static thread_local const char mark = 0;
  return &mark;
}

}  // namespace

task_group::task_group() : task_group(pool::here()) {}

task_group::task_group(pool& p) noexcept : crew_(detail::crew_of(p)), owner_(this_thread()) {}

task_group::~task_group() {
  wait_for_all();
  delete error_.load(std::memory_order_acquire);
}

std::uint64_t task_group::add() noexcept {
  if (this_thread() == owner_ && !settled_) return spawned_here_++;
  // relaxed: the job that spawns is itself pending, so the count cannot reach zero meanwhile.
  pending_.fetch_add(1, std::memory_order_relaxed);
  constexpr std::uint64_t after_the_owners = std::uint64_t{1} << 63;
  return after_the_owners | spawned_elsewhere_.fetch_add(1, std::memory_order_relaxed);
}

void task_group::remove() noexcept {
  // [D] The last one sees what every other job has done, and shows it to the waiter with set().
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.set();
}

void task_group::wait_for_all() noexcept {
  settled_ = true;
  const auto spawned = static_cast<std::int64_t>(spawned_here_);
  // From `open - finished` to `spawned - finished`. Zero: nobody can be inside the group any more.
  if (pending_.fetch_sub(open - spawned, std::memory_order_acq_rel) != open - spawned) {
    detail::wait_for_lending(done_, crew_);
  }
  pending_.store(open, std::memory_order_relaxed);  // no job is left that could look
  spawned_here_ = 0;
  settled_ = false;
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
