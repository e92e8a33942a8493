#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/flow/group_of.hpp>
#include <weft/flow/instance_options.hpp>
#include <weft/flow/instance_place.hpp>
#include <weft/flow/outcome.hpp>

namespace weft {

// The right to add instances to a group: while it lives, the group is not complete for want of
// instances.
//
// Threads: one at a time. Lifetime: may outlive the group; add() then returns false. In a forked
//   child close() does nothing, and add() throws used_after_fork.
template <class T>
class instance_ticket {
 public:
  // By instance_group::open(), which says whether there is still something to add to.
  explicit instance_ticket(std::shared_ptr<flow::group_for<T>> group) noexcept
      : group_(std::move(group)), is_open_(group_ != nullptr && group_->open_ticket()) {}
  instance_ticket(instance_ticket&& other) noexcept
      : group_(std::move(other.group_)), is_open_(std::exchange(other.is_open_, false)) {}
  instance_ticket& operator=(instance_ticket&& other) noexcept {
    if (this != &other) {
      close();
      group_ = std::move(other.group_);
      is_open_ = std::exchange(other.is_open_, false);
    }
    return *this;
  }
  ~instance_ticket() { close(); }

  // An instance more. False: the group is complete, or the ticket closed; the item is dropped.
  // Throws std::bad_alloc, and what moving the item throws; then nothing was added.
  bool add(T item) { return is_open_ && group_->add(std::move(item)); }
  // Another right, for another thread or another task.
  [[nodiscard]] instance_ticket another() const { return instance_ticket(group_); }
  // Gives the right up, as the destructor does.
  void close() noexcept {
    if (std::exchange(is_open_, false)) group_->close_ticket();
  }

 private:
  std::shared_ptr<flow::group_for<T>> group_;
  bool is_open_ = false;
};

// Instances of one activity, added while others run, and joined when there are enough: patterns 15,
// 26, 27, 34, 35 and 36.
//
//   weft::instance_group<Sample, Verdict> open(hs, test_one, {.join = weft::n_of(400)});
//   { auto ticket = open.open(); for (auto s : feed) ticket.add(s); }
//   auto outcomes = co_await open.join();
//
// The body takes a T, before it a std::stop_token if it wants one, and after it an
// instance_ticket<T> if it adds instances itself: [](Sample s, auto more) { more.add(half(s)); }.
// It is a function, on the cores, or returns a task, in the I/O lane; instance_options::lane
// decides otherwise. It is shared by all instances, which run at once.
//
// Complete: when neither instances nor tickets are left, when the join rule fires, or when somebody
//   ends it. Then nothing is added or begun any more. A group to which nobody came is complete when
//   it is joined.
// Cancelled: an instance that is asked to stop has its token requested, and whatever a coroutine
//   waits for throws; one that has not begun never will. Whoever does not look is waited for. What
//   was asked to stop ends as cancelled or timed out whatever it throws, but keeps a value.
//
// Threads: any; join(), next() and drain() by one task at a time. Blocks: the destructor; a worker
//   helps meanwhile. Errors: std::invalid_argument for options and an empty body. What an instance
//   throws is its outcome; and so is that its place would not take it.
// Lifetime: the destructor cancels and waits; what a join rule with rest::let_finish has left is
//   not cancelled. On an I/O thread whose instances have not ended that would wait for ever, and
//   aborts: join() or drain() before. (One that began elsewhere and is yet to come to that thread
//   is not noticed.) Not from one of its own instances, which would wait for itself. In a forked
//   child it does nothing.
template <class T, class R = void>
class instance_group {
  static_assert(!std::is_reference_v<T> && !std::is_reference_v<R>,
                "weft: items and results of instances are values; use pointers to refer to others");

 public:
  using ticket = instance_ticket<T>;

  template <class F>
  instance_group(instance_place where, F&& body, const instance_options& options = {}) {
    using function = std::decay_t<F>;
    static_assert(flow::body_form<function, T, ticket>::is_valid,
                  "weft: the body of instance_group<T, R> must be callable as f(T), "
                  "f(std::stop_token, T), f(T, instance_ticket<T>) or "
                  "f(std::stop_token, T, instance_ticket<T>)");
    if constexpr (flow::body_form<function, T, ticket>::is_valid) {
      static_assert(
          std::is_void_v<R> || std::convertible_to<flow::body_result_t<function, T, ticket>, R>,
          "weft: the body of instance_group<T, R> must return an R, or a task of one");
      detail::require_callable(body, "instance_group");
      auto made = std::make_shared<flow::group_with<T, R, function>>(
          std::move(where), std::forward<F>(body), options, "instance_group");
      made->start_clock();
      group_ = std::move(made);
    }
  }
  ~instance_group() {
    if (group_->stays_if_abandoned()) return;
    group_->cancel();
    group_->wait_until_idle();
    if (group_.use_count() != 1) group_->forget();  // tickets hold it, also those in items
  }
  instance_group(const instance_group&) = delete;
  instance_group& operator=(const instance_group&) = delete;

  // The right to add. When the group is complete, one that adds nothing.
  [[nodiscard]] ticket open() { return ticket(group_); }

  // co_await join(): the outcomes of all that have ended, once the group is complete and nothing
  // runs that was asked to stop. Each is given once, here or by next(). Instances that the join
  // rule lets finish are not waited for, and not among them. Those that were withdrawn are.
  // Not by an instance of this group, which would wait for itself.
  // Errors: cancelled after cancel(), or when the waiting task is asked to stop, which cancels the
  // group; when more failed than are tolerated, what the one with the lowest index threw; what the
  // predicate of the join rule threw. What moving a result throws: that one is lost, with those
  // before it, and the others can be had by another join().
  [[nodiscard]] task<std::vector<outcome<R>>> join() { return join(group_.get()); }

  // co_await next(): the outcome of the instance that ended next, in order of completion; none when
  // all were given and the group is complete. Errors: as join(), after the last outcome.
  [[nodiscard]] task<std::optional<outcome<R>>> next() { return next(group_.get()); }

  // co_await drain(): nothing runs any more, also not what the join rule let finish.
  [[nodiscard]] task<void> drain() { return drain(group_.get()); }

  // 27: no more; what runs is asked to stop, and join() gives what there is. Of a group that is
  // complete already it changes nothing.
  void complete() noexcept {
    const auto keep = group_;  // whoever joins it may be quicker, and let it go
    keep->complete();
  }
  // 26: as complete(), but join() throws cancelled, so that nothing follows. Also what a join rule
  // has let finish is asked to stop.
  void cancel() noexcept {
    const auto keep = group_;
    keep->stop_everything();
  }

  [[nodiscard]] group_progress progress() const noexcept { return group_->progress(); }
  // Why it is complete.
  [[nodiscard]] group_end ended_by() const noexcept { return group_->end(); }

 private:
  using group_of = flow::group_of<T, R>;
  using until = flow::group_wait::until;

  static task<std::vector<outcome<R>>> join(group_of* group) {
    group->expect_no_more();
    co_await flow::wait_for(*group, until::joinable);
    co_return group->take_outcomes();
  }
  static task<std::optional<outcome<R>>> next(group_of* group) {
    co_await flow::wait_for(*group, until::news);
    co_return group->take_next();
  }
  static task<void> drain(group_of* group) {
    group->expect_no_more();
    co_await flow::wait_for(*group, until::idle);
  }

  std::shared_ptr<group_of> group_;
};

}  // namespace weft
