#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/atomic.hpp>
#include <weft/core/errors.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

// Tasks that wait at a channel, oldest first. Lives under the channel's lock.
class channel_wait : public wait {
 public:
  enum class phase : std::uint8_t { fresh, queued, served, withdrawn };

  phase at = phase::fresh;  // guarded by the channel's mutex until the task goes on
  channel_wait* next = nullptr;
  channel_wait* previous = nullptr;

 protected:
  ~channel_wait() = default;
};

class channel_waits {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] channel_wait* front() const noexcept { return first_; }
  void push_back(channel_wait& w) noexcept;
  void remove(channel_wait& w) noexcept;

 private:
  channel_wait* first_ = nullptr;
  channel_wait* last_ = nullptr;
};

}  // namespace coro

// A queue between tasks that holds at most `capacity` values: senders wait while it is full,
// receivers while it is empty. With capacity 0 a value goes from hand to hand.
//
//   weft::channel<std::string> lines(64);
//   co_await lines.send(line);                                  // false: closed
//   while (auto line = co_await lines.receive()) use(*line);    // until closed and empty
//
// First come, first served, on both sides. Threads: any, any number of senders and receivers.
// Errors: waiting throws cancelled when the task is asked to stop; then nothing was sent, and
// nothing is lost. Lifetime: outlives everyone who waits at it.
template <class T>
class channel {
  static_assert(
      std::is_nothrow_move_constructible_v<T>,
      "weft: what goes through a channel must be movable without throwing, for a value that "
      "is half moved could be neither sent nor kept; send a std::unique_ptr");

 public:
  class sending;
  class receiving;

  explicit channel(std::size_t capacity) : capacity_(capacity) {}
  ~channel() {
    WEFT_ASSERT(senders_.empty() && receivers_.empty(),
                "a channel is destroyed while tasks wait at it; let it outlive them");
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  // co_await send(v): true when it was sent, false when the channel is closed.
  [[nodiscard]] sending send(T value) { return sending(*this, std::move(value)); }
  // co_await receive(): the oldest value; none when the channel is closed and empty.
  [[nodiscard]] receiving receive() { return receiving(*this); }

  // The value stays with the caller when there is no room or the channel is closed.
  [[nodiscard]] bool try_send(T& value) {
    detail::job_list ready;
    bool sent = false;
    {
      const std::lock_guard lock(mutex_);
      sent = !closed_ && put(value, ready);
    }
    coro::post_all(ready);
    return sent;
  }
  [[nodiscard]] std::optional<T> try_receive() {
    detail::job_list ready;
    std::optional<T> value;
    {
      const std::lock_guard lock(mutex_);
      value = take(ready);
    }
    coro::post_all(ready);
    return value;
  }

  // No more values: senders that wait get false, receivers what is left.
  void close() noexcept {
    detail::job_list ready;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      for (auto* waits : {&senders_, &receivers_}) {
        while (coro::channel_wait* w = waits->front()) serve(*waits, *w, ready);
      }
    }
    coro::post_all(ready);
  }
  [[nodiscard]] bool is_closed() const noexcept {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  [[nodiscard]] std::size_t size() const noexcept {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  // All below with mutex_ held.
  static void serve(coro::channel_waits& waits, coro::channel_wait& w, detail::job_list& ready) {
    waits.remove(w);
    w.at = coro::channel_wait::phase::served;
    ready.push_back(*w.task);
  }
  // Hands the value to a receiver that waits, or keeps it if there is room.
  bool put(T& value, detail::job_list& ready) {
    if (coro::channel_wait* w = receivers_.front()) {
      static_cast<receiving*>(w)->value_.emplace(std::move(value));
      serve(receivers_, *w, ready);
      return true;
    }
    if (values_.size() >= capacity_) return false;
    values_.push_back(std::move(value));
    return true;
  }
  // The oldest value; the sender that waits longest gets its place.
  std::optional<T> take(detail::job_list& ready) {
    std::optional<T> value;
    auto* const sender = static_cast<sending*>(senders_.front());
    if (!values_.empty()) {
      if (sender != nullptr) values_.push_back(std::move(sender->value_));  // may throw, so first
      value.emplace(std::move(values_.front()));
      values_.pop_front();
    } else if (sender != nullptr) {
      value.emplace(std::move(sender->value_));
    }
    if (sender != nullptr) {
      sender->sent_ = true;
      serve(senders_, *sender, ready);
    }
    return value;
  }
  bool withdraw(coro::channel_waits& waits, coro::channel_wait& w) noexcept {
    const std::lock_guard lock(mutex_);
    using phase = coro::channel_wait::phase;
    const bool was_queued = w.at == phase::queued;
    if (was_queued) waits.remove(w);
    if (w.at != phase::served) w.at = phase::withdrawn;
    return was_queued;
  }

  const std::size_t capacity_;
  mutable mutex mutex_;
  // Guarded by mutex_. Senders wait only while there is no room, receivers only while there is no
  // value, so never both.
  std::deque<T> values_;
  coro::channel_waits senders_;
  coro::channel_waits receivers_;
  bool closed_ = false;
};

// What both sides do: one look under the lock, which either succeeds or queues.
template <class T>
class channel<T>::sending final : public coro::channel_wait {
 public:
  sending(channel& to, T value) noexcept : to_(to), value_(std::move(value)) {}
  sending(const sending&) = delete;
  sending& operator=(const sending&) = delete;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) {
    this->task = &waiter.promise();
    if (!this->task->waiting().begin(*this)) {
      this->task = nullptr;
      return false;
    }
    try {
      return send_or_queue();
    } catch (...) {  // no memory
      this->task->waiting().end();
      throw;
    }
  }
  bool await_resume() {
    if (this->task != nullptr) this->task->waiting().end();
    if (this->at != phase::served) throw cancelled();
    return sent_;
  }

 private:
  friend channel;
  using coro::channel_wait::phase;

  // True when it waits.
  bool send_or_queue() {
    detail::job_list ready;
    {
      const std::lock_guard lock(to_.mutex_);
      if (this->at != phase::withdrawn) {
        if (!to_.closed_) sent_ = to_.put(value_, ready);
        if (!to_.closed_ && !sent_) {
          this->at = phase::queued;
          to_.senders_.push_back(*this);
          return true;  // when the lock is free the frame may be gone
        }
        this->at = phase::served;
      }
    }
    coro::post_all(ready);
    return false;
  }
  void give_up(detail::job_list& released) noexcept override {
    if (to_.withdraw(to_.senders_, *this)) released.push_back(*this->task);
  }
  [[nodiscard]] const char* what() const noexcept override { return "room in a channel"; }

  channel& to_;
  T value_;
  bool sent_ = false;
};

template <class T>
class channel<T>::receiving final : public coro::channel_wait {
 public:
  explicit receiving(channel& from) noexcept : from_(from) {}
  receiving(const receiving&) = delete;
  receiving& operator=(const receiving&) = delete;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) {
    this->task = &waiter.promise();
    if (!this->task->waiting().begin(*this)) {
      this->task = nullptr;
      return false;
    }
    try {
      return receive_or_queue();
    } catch (...) {  // no memory
      this->task->waiting().end();
      throw;
    }
  }
  std::optional<T> await_resume() {
    if (this->task != nullptr) this->task->waiting().end();
    if (this->at != phase::served) throw cancelled();
    return std::move(value_);
  }

 private:
  friend channel;
  using coro::channel_wait::phase;

  // True when it waits.
  bool receive_or_queue() {
    detail::job_list ready;
    {
      const std::lock_guard lock(from_.mutex_);
      if (this->at != phase::withdrawn) {
        value_ = from_.take(ready);
        if (!value_ && !from_.closed_) {
          this->at = phase::queued;
          from_.receivers_.push_back(*this);
          return true;  // when the lock is free the frame may be gone
        }
        this->at = phase::served;
      }
    }
    coro::post_all(ready);
    return false;
  }
  void give_up(detail::job_list& released) noexcept override {
    if (from_.withdraw(from_.receivers_, *this)) released.push_back(*this->task);
  }
  [[nodiscard]] const char* what() const noexcept override { return "a value from a channel"; }

  channel& from_;
  std::optional<T> value_;
};

}  // namespace weft
