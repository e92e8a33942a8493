#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <utility>

#include <weft/core/future.hpp>
#include <weft/core/pool.hpp>
#include <weft/coro/sync_wait.hpp>
#include <weft/coro/task.hpp>

namespace weft {

namespace coro {

enum class starts_in : std::uint8_t {
  its_lane,  // whatever happens
  a_waiter,  // too: a worker that waits for the result and cannot help otherwise
};

// The outcome of a chain, as a future: the job that starts it, its owner and its result in one.
template <class T>
class chain_future : public detail::future_state<T>, public chain_owner, public detail::job_memory {
 public:
  // Under a name, the task is a part of `within`; without one it is as good as that.
  chain_future(detail::crew& c, lane& home, task<T> t, std::string_view name, const context& within,
               starts_in where = starts_in::its_lane)
      : detail::future_state<T>(c, where == starts_in::a_waiter
                                       ? detail::future_state_base::phase::ready
                                       : detail::future_state_base::phase::blocked),
        pool_(c),
        home_(home),
        task_(std::move(t)),
        is_named_(!name.empty()),
        context_(is_named_ ? within.part(name) : within) {
    this->call = &called;
  }

 protected:
  // Runs the first stretch. Afterwards *this may be gone.
  virtual void run_first(promise_base& first) noexcept { first.run(); }
  // The outcome is there, or there will be none because it never began; nobody knows yet.
  virtual void leaving() noexcept {}

  [[nodiscard]] std::string_view name() const noexcept final {
    return is_named_ ? context_.name() : std::string_view();
  }
  // A constant; null while it runs, is queued, or has not begun.
  [[nodiscard]] const char* waits_for() noexcept {
    const std::lock_guard lock(mutex_);
    return first_ != nullptr ? first_->waiting().what() : nullptr;
  }
  [[nodiscard]] bool is_chain(const promise_base* first) noexcept {
    const std::lock_guard lock(mutex_);
    return first_ != nullptr && first_ == first;
  }

 private:
  static void called(detail::job& self, detail::job_fate fate) noexcept {
    auto& me = static_cast<chain_future&>(self);
    if (!me.claim()) return me.release();  // somebody has asked it to stop before it began
    if (fate == detail::job_fate::drop) {
      me.cancel();
      return me.release();
    }
    auto& first = me.task_.promise("spawn");
    first.start_chain(me, me.home_);
    {
      const std::lock_guard lock(me.mutex_);
      me.first_ = &first;
      if (me.asked_to_stop_) stop_chain(first);  // it does not wait yet
    }
    me.run_first(first);
  }

  [[nodiscard]] const detail::context_node* on_behalf_of() const noexcept final {
    return context_.node();
  }
  void ended(promise_base& /*first*/) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      first_ = nullptr;
    }
    auto& promise = task_.promise("spawn");
    this->result_.fill([&]() -> T { return promise.take(); });
    // The thread still says that it runs the chain, whose frame goes now; and this goes with
    // finish(), where a result that nobody wants may do something in its destructor.
    const weft::context mine = context_;
    const context_scope scope(mine);
    task_ = {};  // what it holds is released before anybody learns that it is done
    leaving();
    this->finish();
  }
  [[nodiscard]] std::stop_token stop_token() noexcept override {
    const std::lock_guard lock(mutex_);
    if (!this->stop_.stop_possible()) {
      this->stop_ = std::stop_source();
      if (asked_to_stop_) this->stop_.request_stop();
    }
    return this->stop_.get_token();
  }
  void stop_running() noexcept override {
    detail::job_list released;
    std::stop_source source(std::nostopstate);
    {
      const std::lock_guard lock(mutex_);
      asked_to_stop_ = true;
      if (first_ != nullptr) first_->waiting().stop(released);
      source = this->stop_;
    }
    source.request_stop();
    post_all(released);
  }
  // By a worker that waits for the result and may nest no deeper, before the chain has begun.
  void produce() noexcept override {
    const detail::work_scope scope(context_);
    this->result_.fill([this]() -> T {
      auto& promise = task_.promise("spawn");
      run_here_and_wait(promise, stop_token());
      return promise.take();
    });
    abandon();
  }
  void abandon() noexcept override {
    task_ = {};
    leaving();
  }

  const detail::crew_reference pool_;  // may go while the task waits
  lane& home_;
  task<T> task_;
  const bool is_named_;
  const weft::context context_;
  std::mutex mutex_;               // keeps the chain alive for whoever asks it to stop
  promise_base* first_ = nullptr;  // guarded by mutex_; null before the start and after the end
  bool asked_to_stop_ = false;     // guarded by mutex_
};

}  // namespace coro

// Starts a task as a job of the pool; the future gets its result. request_stop() of the future asks
// the task to stop, and drops it when it has not begun.
// Errors: pool_stopped; queue_full.
template <class T>
future<T> spawn(pool& p, task<T> t, std::string_view name = {}) {
  static_cast<void>(t.promise("spawn"));
  detail::crew& c = detail::crew_of(p);
  auto* job = new coro::chain_future<T>(c, lane_of(p), std::move(t), name, context::current(),
                                        coro::starts_in::a_waiter);
  future<T> result = adopt_state<T>(job);
  try {
    detail::submit_task(c, *job, "spawn");
  } catch (...) {
    job->release();  // the queue's
    throw;
  }
  return result;
}

}  // namespace weft
