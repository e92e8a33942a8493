#pragma once

// A task that a thread of a model plays: the frame is as the compiler lays it out, but to resume it
// rings a bell. So what tasks wait for is checked as it is, without coroutines, which the model
// checker cannot follow.

#include <coroutine>
#include <cstddef>
#include <string_view>

#include <core/bell.cpp>
#include <core/running.cpp>
#include <coro/promise.cpp>

#include <weft/core/errors.hpp>
#include <weft/core/lane.hpp>

// No task of the models has a context.
namespace weft::detail {
inline void retain(const context_node&) noexcept {}
inline void release(const context_node&) noexcept {}
}  // namespace weft::detail

namespace weft::model {

class played_task {
 public:
  played_task() : home_(promise.call) { promise.start_chain(nobody_, home_); }
  ~played_task() {
    std::destroy_at(&promise.waiting());
    std::destroy_at(&promise.next);
  }

  [[nodiscard]] std::coroutine_handle<coro::promise_base> handle() noexcept {
    return std::coroutine_handle<coro::promise_base>::from_promise(promise);
  }
  void expect_to_go_on() { waiting_.fetch_add(1); }
  // Until somebody goes on with it.
  void wait() { bell_.wait(); }
  // By the one who goes on with it; there is one for each wait.
  void go_on() {
    RL_ASSERT(waiting_.fetch_sub(1) == 1);
    bell_.ring(1);
  }
  // Awaits what suspends by await_suspend(). False when the task was called away.
  template <class Awaitable>
  bool await(Awaitable& a) {
    expect_to_go_on();
    if (a.await_suspend(handle())) {
      wait();
    } else {
      RL_ASSERT(waiting_.fetch_sub(1) == 1);
    }
    try {
      result_ = static_cast<bool>(a.await_resume());
      return true;
    } catch (const cancelled&) {
      return false;
    }
  }
  // Asks it to stop.
  void stop() { coro::stop_chain(promise); }

  [[nodiscard]] bool result() const { return result_; }

 private:
  struct lane_of_models final : lane {
    explicit lane_of_models(detail::job::call_fn c) : call_of_tasks(c) {}
    void post(detail::queued_job& job) noexcept override {
      if (job.call != call_of_tasks) return job.call(job, detail::job_fate::run);
      of(job).go_on();
    }
    [[nodiscard]] bool is_here() const noexcept override { return false; }
    const detail::job::call_fn call_of_tasks;
  };
  struct no_owner final : coro::chain_owner {
    void ended(coro::promise_base&) noexcept override {}
    std::stop_token stop_token() noexcept override { return {}; }
    [[nodiscard]] std::string_view name() const noexcept override { return {}; }
  };
  static played_task& of(detail::queued_job& job) {
    auto& p = static_cast<coro::promise_base&>(job);
    return *reinterpret_cast<played_task*>(p.handle().address());
  }
  static void resumed(void* frame) { static_cast<played_task*>(frame)->go_on(); }

  // The head of a frame.
  void (*resume_)(void*) = &resumed;
  void (*destroy_)(void*) = nullptr;
  alignas(coro::promise_base) std::byte memory_[sizeof(coro::promise_base)];

 public:
  // Has no destructor, for the model's atomics in its union have one.
  coro::promise_base& promise = *::new (memory_) coro::promise_base;

 private:
  detail::bell bell_;
  atomic<int> waiting_{0};
  lane_of_models home_;
  no_owner nobody_;
  bool result_ = false;  // of the last await()
};

}  // namespace weft::model
