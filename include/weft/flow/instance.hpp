#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string_view>

#include <weft/core/context.hpp>
#include <weft/core/job.hpp>
#include <weft/core/job_memory.hpp>
#include <weft/coro/promise.hpp>
#include <weft/coro/task.hpp>
#include <weft/flow/attempt_state.hpp>
#include <weft/flow/outcome.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/io/tracked_task.hpp>

namespace weft::flow {

class group_core;

// One instance of a group: what the group knows of it, and the job that starts its attempts.
//
// An attempt is a coroutine that catches what the body throws. Whatever becomes of it, its end is
// told to the group once, when the coroutine and what it holds are gone.
//
// Lifetime: as long as the group. One that is asked to stop before it begins ends at once, and
// stays in its lane until somebody takes it out; the group keeps its memory until then.
class instance : public detail::queued_job,
                 public coro::chain_owner,
                 public io::tracked_task,
                 public detail::job_memory {
 public:
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;

  // -- by the group -------------------------------------------------------------------------------
  // The next attempt begins to be made. With the lock.
  void make_attempt() noexcept {
    state_.make(++attempts);
    is_under_way = true;
    how = outcome_kind::cancelled;
    asked_to_stop = false;
    was_told = false;
    took_too_long = false;
  }
  // That is its coroutine. False: the attempt was withdrawn, and is to be dropped. Throws
  // pool_stopped.
  [[nodiscard]] bool prepare(task<void> attempt, io::placement where, task_kind kind,
                             std::string_view name, io::scheduler* knows_it);
  // It could not be made, was withdrawn, or no lane has taken it: releases the coroutine.
  void drop() noexcept;
  [[nodiscard]] bool take_back() noexcept { return state_.take_back(); }
  // Asks that attempt to stop. True: it had not begun, and has ended.
  [[nodiscard]] bool stop(unsigned attempt) noexcept;
  // Whether it needs the calling thread to go on. With the lock.
  [[nodiscard]] bool needs_this_thread() const noexcept;

  // -- by the attempt -----------------------------------------------------------------------------
  [[nodiscard]] std::stop_token stop_token() noexcept override;
  // It ends with the exception that is being handled.
  void keep_exception() noexcept;

  // Written by the attempt while one is under way, else guarded by the group.
  std::exception_ptr error;
  outcome_kind how = outcome_kind::cancelled;  // unless something else happens

  // Belongs to whoever joins the group or reads its stream, one at a time.
  bool handed_out = false;

  // Guarded by the group. Of one that was left in its end_tally, has_ended and is_under_way are
  // those of before until group_core::order_left().
  std::size_t index = 0;
  bool has_ended = false;
  bool asked_to_stop = false;
  bool was_told = false;  // that it was asked
  bool took_too_long = false;
  bool comes_no_more = false;  // no attempt follows: its place takes no others
  bool is_under_way = false;   // an attempt
  unsigned attempts = 0;
  std::uint32_t left_before = 0;  // written by whoever leaves it in the end_tally
  instance* next_ended = nullptr;

 protected:
  explicit instance(group_core& group) noexcept : group_(group) { call = &called; }
  ~instance() = default;

 private:
  static void called(detail::job& self, detail::job_fate fate) noexcept;
  [[nodiscard]] coro::promise_base& first() noexcept { return *attempt_.promise_if_any(); }
  [[nodiscard]] const context& within() const noexcept;
  void end() noexcept;

  // As the owner of its chain.
  void ended(coro::promise_base& first) noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return name_.name(); }
  [[nodiscard]] const detail::context_node* on_behalf_of() const noexcept override {
    return within().node();
  }

  // As a task that a scheduler knows.
  [[nodiscard]] std::string_view task_name() const noexcept override { return name_.name(); }
  [[nodiscard]] const char* task_waits_for() noexcept override;
  [[nodiscard]] bool owns_chain(const coro::promise_base* chain) noexcept override;
  [[nodiscard]] std::shared_ptr<void> keep() override;
  void ask_to_stop() noexcept override;

  group_core& group_;
  attempt_state state_;
  // Of the attempt; they change when it is not queued, running or held.
  task_kind kind_ = task_kind::function;
  bool was_stopped_ = false;  // by whoever holds it, as stop_
  task<void> attempt_;
  context name_;  // a part of the group's; none when it has no name
  weft::lane* lane_ = nullptr;
  std::stop_source stop_{std::nostopstate};  // has a state when somebody wants a token
};

}  // namespace weft::flow
