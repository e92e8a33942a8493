#include "io/task_registry.hpp"

#include <functional>
#include <thread>
#include <vector>

namespace weft::io {

unsigned task_registry::shard_of_this_thread() noexcept {
  static thread_local const auto mine =
      static_cast<unsigned>(std::hash<std::thread::id>{}(std::this_thread::get_id()) % shard_count);
  return mine;
}

bool task_registry::enter(tracked_task& t) noexcept {
  t.shard_ = shard_of_this_thread();
  shard& s = shards_[t.shard_];
  const std::lock_guard lock(s.mutex);
  if (s.closed) return false;
  ++s.entered;
  t.next_ = s.first;
  if (s.first != nullptr) s.first->previous_ = &t;
  s.first = &t;
  return true;
}

void task_registry::close() noexcept {
  for (shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    s.closed = true;
  }
}

void task_registry::unlink(shard& s, tracked_task& t) noexcept {
  ++s.left;
  (t.previous_ == nullptr ? s.first : t.previous_->next_) = t.next_;
  if (t.next_ != nullptr) t.next_->previous_ = t.previous_;
}

void task_registry::leave(tracked_task& t) noexcept {
  shard& s = shards_[t.shard_];
  {
    const std::lock_guard lock(s.mutex);
    if (!s.watched) return unlink(s, t);
  }
  // Whoever waits destroys the registry when it is empty, so it must not see that before we are
  // done.
  const std::lock_guard told(waiting_mutex_);
  {
    const std::lock_guard lock(s.mutex);
    unlink(s, t);
  }
  changed_.notify_all();
}

void task_registry::visit(const std::function<void(tracked_task&)>& visitor) const {
  for (const shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    for (tracked_task* t = s.first; t != nullptr; t = t->next_) visitor(*t);
  }
}

void task_registry::stop_all() const {
  std::vector<detail::future_state_base*> all;
  visit([&](tracked_task& t) {
    t.state().add_references(1);  // it has not ended, so it holds one itself
    all.push_back(&t.state());
  });
  for (detail::future_state_base* state : all) {
    state->request_stop();
    state->release();
  }
}

// Tasks enter and leave while this adds up. Counting those that left first never counts too many of
// them: equal sums mean that between the two rounds there was none.
std::size_t task_registry::live() const noexcept {
  std::uint64_t left = 0;
  for (const shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    left += s.left;
  }
  return static_cast<std::size_t>(entered() - left);
}

std::uint64_t task_registry::entered() const noexcept {
  std::uint64_t sum = 0;
  for (const shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    sum += s.entered;
  }
  return sum;
}

void task_registry::watch() const {
  for (const shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    s.watched = true;
  }
}

bool task_registry::wait_until_empty(std::chrono::steady_clock::time_point deadline) const {
  watch();
  std::unique_lock lock(waiting_mutex_);
  return changed_.wait_until(lock, deadline, [this] { return is_empty(); });
}

void task_registry::wait_until_empty() const {
  watch();
  std::unique_lock lock(waiting_mutex_);
  changed_.wait(lock, [this] { return is_empty(); });
}

}  // namespace weft::io
