#pragma once

#include <cstddef>
#include <stop_token>
#include <string_view>

#include <weft/base/atomic.hpp>
#include <weft/coro/promise.hpp>

namespace weft::coro {

// The first tasks of several chains, wherever they are kept.
class chain_starts {
 public:
  using get = promise_base& (*)(void* tasks, std::size_t index) noexcept;

  chain_starts() = default;
  chain_starts(void* tasks, std::size_t count, get at) noexcept
      : tasks_(tasks), count_(count), at_(at) {}
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  promise_base& operator[](std::size_t index) const noexcept { return at_(tasks_, index); }

 private:
  void* tasks_ = nullptr;
  std::size_t count_ = 0;
  get at_ = nullptr;
};

// Chains that run side by side while one task waits for all of them to end. It lives in that task's
// frame, and so do the tasks that start them.
//
// Memory: what a branch did is visible to the task that goes on.
class branches : public chain_owner, public wait {
 public:
  // Starts them in the lane of the task: the first one on this thread, the others there where that
  // lane has room. False when there is nothing to wait for: none at all, or the task was asked to
  // stop, and then none has begun. Otherwise the frame may be gone when this returns.
  [[nodiscard]] bool start(promise_base& parent, chain_starts starts) noexcept;

  // After the task has gone on.
  void finish() noexcept;
  [[nodiscard]] bool called_off() const noexcept { return called_off_; }

 protected:
  branches() = default;
  ~branches() = default;

  [[nodiscard]] promise_base& parent() const noexcept { return *task; }
  [[nodiscard]] const chain_starts& starts() const noexcept { return starts_; }
  // Asks every branch but one to stop.
  void stop_branches(detail::job_list& released, const promise_base* except = nullptr) noexcept;

  // By every branch at its end. After this line the frame may be gone.
  void count_end(promise_base& first) noexcept;

 private:
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return parent().owner().name(); }
  [[nodiscard]] const detail::context_node* on_behalf_of() const noexcept override {
    return parent().owner().on_behalf_of();
  }

  chain_starts starts_;
  bool called_off_ = false;  // written before the first branch begins
  // Branches that have not ended; written by each of them. acq_rel: the last one sees what all did.
  atomic<std::size_t> left_{0};
};

// Waits for all, whatever becomes of them.
class all_branches final : public branches {
 private:
  void ended(promise_base& first) noexcept override { count_end(first); }
  [[nodiscard]] std::stop_token stop_token() noexcept override {
    return parent().owner().stop_token();
  }
  [[nodiscard]] const char* what() const noexcept override { return "when_all"; }
};

// The first one to end is the winner; the others are asked to stop, and waited for.
class any_branches final : public branches {
 public:
  [[nodiscard]] std::size_t winner() const noexcept;

 private:
  void ended(promise_base& first) noexcept override;
  void give_up(detail::job_list& released) noexcept override;
  [[nodiscard]] std::stop_token stop_token() noexcept override { return stop_.get_token(); }
  [[nodiscard]] const char* what() const noexcept override { return "when_any"; }

  std::stop_source stop_;
  atomic<promise_base*> winner_{nullptr};  // set once; the last branch to end publishes it
};

}  // namespace weft::coro
