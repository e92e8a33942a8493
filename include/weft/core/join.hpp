#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/core/fork_context.hpp>
#include <weft/core/job_types.hpp>
#include <weft/core/pool.hpp>

namespace weft {
namespace detail {

// The right side of a join, in the frame that forked it.
template <class F>
class stack_job final : public job {
 public:
  using result = std::invoke_result_t<F&>;

  // Nothing but what a thief needs is written here: most jobs are never stolen.
  explicit stack_job(F& f) noexcept : f_(f) { call = &called; }

  latch& done() noexcept { return done_; }
  void call_here() { f_(); }

  // What the thief left. Once, after done() is set.
  [[gnu::cold, gnu::noinline]] value_of<result> take() {
    const std::unique_ptr<outcome<result>, destroyer> left(stolen_result());
    return left->take();
  }
  void discard() noexcept { std::destroy_at(stolen_result()); }

 private:
  struct destroyer {
    void operator()(outcome<result>* o) const noexcept { std::destroy_at(o); }
  };

  static void called(job& self, job_fate /*always run: the frame waits*/) noexcept {
    auto& me = static_cast<stack_job&>(self);
    std::construct_at(me.stolen_result())->fill(me.f_);
    me.done_.set();  // `me` may be gone from here on
  }

  outcome<result>* stolen_result() noexcept { return reinterpret_cast<outcome<result>*>(memory_); }

  F& f_;
  latch done_;
  // Bytes and not a union: with a destructor of its own, even an empty one, the job would keep the
  // compiler from splitting the caller, and every leaf of a recursion would pay for the fork.
  alignas(outcome<result>) std::byte memory_[sizeof(outcome<result>)];
};

// The left side threw. The right side finishes too, for it may use the caller's frame; its own
// exception, if any, is the second by position and is dropped.
template <class B>
[[gnu::cold, gnu::noinline]] void finish_right(std::int64_t mark, stack_job<B>& right) noexcept {
  fork_context& here = *current_context;
  if (here.take_back(mark) || here.take_back_or_wait(right, right.done())) {
    try {
      right.call_here();
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  } else {
    right.discard();
  }
}

template <class B>
[[gnu::cold, gnu::noinline]] bool took_back_after_all(stack_job<B>& right) noexcept {
  return current_context->take_back_or_wait(right, right.done());
}

template <class A, class B>
using join_pair = std::pair<value_of<std::invoke_result_t<A&>>, value_of<std::invoke_result_t<B&>>>;

// The fast path of a fork nobody steals: store the job, two indices, poll one word.
template <class A, class B>
[[gnu::always_inline]] inline join_pair<A, B> fork_and_join(A& a, B& b) {
  stack_job<B> right(b);
  const std::int64_t mark = current_context->fork(right);
  auto run_left = [&]() -> value_of<std::invoke_result_t<A&>> {
    try {
      return call_for_value(a);
    } catch (...) {
      finish_right(mark, right);
      throw;
    }
  };
  decltype(auto) left = run_left();
  // The context is read again: that costs less than a register kept across the call. No [[likely]]:
  // it makes the compiler think the whole caller hot, and stop splitting its leaf case off.
  if (current_context->take_back(mark) || took_back_after_all(right)) {
    return join_pair<A, B>(std::forward<decltype(left)>(left), call_for_value(b));
  }
  return join_pair<A, B>(std::forward<decltype(left)>(left), right.take());
}

}  // namespace detail

// Runs a and b, possibly at the same time, and returns both results as a pair when both are done.
//
//   auto [x, y] = weft::join([&] { return left(); }, [&] { return right(); });
//
// void results become std::monostate; when both are void, so is the join. a runs on this thread; b
// is left for others to steal and runs here when nobody does, at about the cost of a call. Outside
// a pool the thread lends itself to pool::global() for the join; if that has no idle worker, it
// runs both sides alone.
//
// Errors: both sides finish; if a threw, that is rethrown, else what b threw.
// Blocks: until both are done; meanwhile the worker runs other jobs, so do not hold a lock across
// it
//   that those could want.
template <class A, class B>
  requires std::invocable<A&> && std::invocable<B&>
[[gnu::always_inline]] inline auto join(A&& a, B&& b) {
  constexpr bool both_void =
      std::is_void_v<std::invoke_result_t<A&>> && std::is_void_v<std::invoke_result_t<B&>>;
  detail::require_callable(a, "join");
  detail::require_callable(b, "join");
  if constexpr (both_void) {
    detail::fork_and_join(a, b);
  } else {
    return detail::fork_and_join(a, b);
  }
}

}  // namespace weft
