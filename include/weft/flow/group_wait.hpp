#pragma once

#include <coroutine>
#include <cstdint>

#include <weft/coro/promise.hpp>
#include <weft/coro/task.hpp>

namespace weft::flow {

class group_core;

// co_await group_wait(...): until the group is that far. False when the task was asked to stop
// meanwhile. One that was asked to stop before asks the group to stop, waits until nothing of it
// runs any more, and gets cancelled.
class group_wait final : public coro::wait {
 public:
  enum class until : std::uint8_t {
    joinable,
    idle,
    news,  // a result to hand out, or joinable
  };

  group_wait(group_core& group, until what) noexcept : group_(group), until_(what) {}
  group_wait(const group_wait&) = delete;
  group_wait& operator=(const group_wait&) = delete;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <coro::task_promise_type Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    return suspend(waiter.promise());
  }
  [[nodiscard]] bool await_resume();

 private:
  friend class group_core;

  [[nodiscard]] bool suspend(coro::promise_base& waiter) noexcept;
  // Whether it must look at every instance that ends.
  [[nodiscard]] bool reads() const noexcept { return until_ == until::news; }
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] const char* what() const noexcept override { return "instances"; }

  group_core& group_;
  const until until_;
  bool began_ = false;
  bool was_stopped_ = false;  // before it began to wait
  // Guarded by the group.
  bool called_off_ = false;
  bool is_queued_ = false;
  group_wait* next_ = nullptr;
};

// Until the group is that far. When the task is asked to stop, so is the group; the task goes on
// when nothing of it runs any more, and gets cancelled.
[[nodiscard]] task<void> wait_for(group_core& group, group_wait::until what);

}  // namespace weft::flow
