#include "io/task_registry.hpp"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <weft/base/brief_lock.hpp>

namespace weft::io {

unsigned task_registry::shard_of_this_thread() noexcept {
  static thread_local const auto mine =
      static_cast<unsigned>(std::hash<std::thread::id>{}(std::this_thread::get_id()) % shard_count);
  return mine;
}

bool task_registry::enter(tracked_task& t) noexcept {
  t.shard_ = shard_of_this_thread();
  shard& s = shards_[t.shard_];
  const auto lock = detail::lock_briefly(s.mutex);
  if (s.closed) return false;
  ++s.entered;
  t.previous_ = nullptr;
  t.next_ = s.first;
  if (s.first != nullptr) s.first->previous_ = &t;
  s.first = &t;
  return true;
}

void task_registry::close() noexcept {
  for (shard& s : shards_) {
    const auto lock = detail::lock_briefly(s.mutex);
    s.closed = true;
  }
}

template <class Unlink>
void task_registry::remove_one(shard& s, const Unlink& unlink) noexcept {
  {
    const auto lock = detail::lock_briefly(s.mutex);
    if (!s.watched) {
      ++s.left;
      return unlink();
    }
  }
  // Whoever waits destroys the registry when it is empty, so it must not see that before we are
  // done.
  const std::lock_guard told(waiting_mutex_);
  {
    const auto lock = detail::lock_briefly(s.mutex);
    ++s.left;
    unlink();
  }
  changed_.notify_all();
}

void task_registry::leave(tracked_task& t) noexcept {
  shard& s = shards_[t.shard_];
  remove_one(s, [&] {
    (t.previous_ == nullptr ? s.first : t.previous_->next_) = t.next_;
    if (t.next_ != nullptr) t.next_->previous_ = t.previous_;
  });
}

void task_registry::hold() noexcept {
  shard& s = shards_[shard_of_this_thread()];
  const auto lock = detail::lock_briefly(s.mutex);
  ++s.entered;
  ++s.holds;
}

void task_registry::let_go() noexcept {
  shard& s = shards_[shard_of_this_thread()];
  remove_one(s, [&] { ++s.let_gos; });
}

void task_registry::visit(const std::function<void(tracked_task&)>& visitor) const {
  for (const shard& s : shards_) {
    const auto lock = detail::lock_briefly(s.mutex);
    for (tracked_task* t = s.first; t != nullptr; t = t->next_) visitor(*t);
  }
}

void task_registry::stop_all() const {
  struct kept {
    tracked_task* task;
    std::shared_ptr<void> memory;
  };
  std::vector<kept> all;
  visit([&](tracked_task& t) { all.push_back({.task = &t, .memory = t.keep()}); });
  for (const kept& k : all) k.task->ask_to_stop();
}

template <class Count>
std::uint64_t task_registry::sum(const Count& of) const noexcept {
  std::uint64_t all = 0;
  for (const shard& s : shards_) {
    const auto lock = detail::lock_briefly(s.mutex);
    all += of(s);
  }
  return all;
}

std::uint64_t task_registry::left() const noexcept {
  return sum([](const shard& s) { return s.left - s.let_gos; });
}

std::uint64_t task_registry::entered() const noexcept {
  return sum([](const shard& s) { return s.entered - s.holds; });
}

// Tasks enter and leave while this adds up. Counting those that left first never counts too many of
// them: equal sums mean that between the two rounds there was none.
bool task_registry::is_empty() const noexcept {
  const std::uint64_t gone = sum([](const shard& s) { return s.left; });
  return gone == sum([](const shard& s) { return s.entered; });
}

void task_registry::watch() const {
  for (const shard& s : shards_) {
    const auto lock = detail::lock_briefly(s.mutex);
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
