#include <weft/core/task_group.hpp>

#include <memory>
#include <new>
#include <utility>

namespace weft {

namespace {

// An address that no other living thread has.
const void* this_thread() noexcept {
  static thread_local const char mark = 0;
  return &mark;
}

}  // namespace

task_group::task_group() : task_group(pool::here()) {}

task_group::task_group(pool& p) : crew_(detail::crew_of(p)), owner_(this_thread()) {}

task_group::~task_group() {
  if (!detail::is_abandoned(crew_)) wait_for_all();
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
  if (detail::is_abandoned(crew_)) {
    throw used_after_fork(
        "weft: task_group::wait in a forked child: the group's jobs stayed in the parent; wait() "
        "before the fork, or make a group on a pool of the child");
  }
  wait_for_all();
  if (stop_.stop_requested()) {
    try {
      stop_ = std::stop_source();
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
      // It stays stopped: jobs to come are dropped, and the next wait() says so.
    }
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void task_group::note_error(std::uint64_t position, std::exception_ptr error) noexcept {
  const std::lock_guard lock(error_mutex_);
  if (error_ && error_position_ <= position) return;
  error_position_ = position;
  error_ = std::move(error);
}

}  // namespace weft
