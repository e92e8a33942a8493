#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/core/errors.hpp>
#include <weft/flow/group_core.hpp>
#include <weft/flow/instance_call.hpp>
#include <weft/flow/outcome.hpp>

namespace weft {

template <class T>
class instance_ticket;

namespace flow {

// A group as those see it who add to it.
template <class T>
class group_for : public group_core {
 public:
  // By the holder of a ticket. False: the group is complete.
  virtual bool add(T item) = 0;

 protected:
  using group_core::group_core;
  ~group_for() override = default;
};

// And as those see it who want the results.
template <class T, class R>
class group_of : public group_for<T> {
 public:
  bool add(T item) final {
    this->require_same_process();
    auto made = std::make_unique<instance_of>(*this, std::move(item));
    instance& i = *made;
    auto lock = this->lock();
    if (!this->may_add()) return false;
    instances_.push_back(std::move(made));
    this->added(lock, i);
    return true;
  }

  // Of those that have ended and were not handed out before.
  // Errors: when the group was cancelled, cancelled; when more failed than are tolerated, what the
  // one with the lowest index threw; what the predicate of the join rule threw.
  std::vector<outcome<R>> take_outcomes() {
    const std::vector<instance_of*> ended = those_that_ended();
    std::vector<outcome<R>> outcomes;
    outcomes.reserve(ended.size());  // what is taken out and cannot be handed out would be lost
    for (instance_of* const i : ended) {
      if (!std::exchange(i->handed_out, true)) outcomes.push_back(outcome_of(*i));
    }
    return outcomes;
  }

  // None: there is none yet, or there will be none.
  std::optional<outcome<R>> take_next() {
    auto lock = this->lock();
    instance* const i = this->next_result();
    if (i == nullptr) {
      throw_bad_end();
      return std::nullopt;
    }
    lock.unlock();
    return outcome_of(same(*i));
  }

  // What the body, the items, results and errors hold; when nothing runs any more. Without the
  // lock, which nobody needs who is left, because with an item a ticket may go, and takes it.
  void forget() noexcept {
    for (const auto& i : instances_) {
      i->item.reset();
      i->value.reset();
      i->error = nullptr;
    }
    forget_body();
    group_core::forget();
  }

 protected:
  struct instance_of final : instance {
    instance_of(group_core& group, T it) : instance(group), item(std::move(it)) {}
    std::optional<T> item;
    std::optional<detail::value_of<R>> value;  // written by the attempt
  };
  static instance_of& same(instance& i) noexcept { return static_cast<instance_of&>(i); }

  using group_for<T>::group_for;
  ~group_of() override = default;

 private:
  virtual void forget_body() noexcept = 0;
  instance& instance_at(std::size_t index) noexcept final { return *instances_[index]; }
  void drop_item(instance& i) noexcept final { same(i).item.reset(); }

  std::vector<instance_of*> those_that_ended() {
    std::vector<instance_of*> ended;
    const auto lock = this->lock();
    throw_bad_end();
    ended.reserve(instances_.size());
    if (this->options_.order == result_order::by_completion) {
      for (instance* i = this->first_ended(); i != nullptr; i = i->next_ended) {
        ended.push_back(&same(*i));
      }
      return ended;
    }
    // Where all have, none is looked at: of many, those are in no cache any more.
    const bool all = this->state().end() == group_end::all_ended;
    for (const auto& i : instances_) {
      if (all || i->has_ended) ended.push_back(i.get());
    }
    return ended;
  }

  // Of one that has ended. Without the lock: moving the value may use the group.
  static outcome<R> outcome_of(instance_of& i) {
    switch (i.how) {
      case outcome_kind::value:
        return {i.index, i.attempts, std::move(*i.value)};
      case outcome_kind::error:
        return {i.index, i.attempts, i.error};
      default:
        return {i.index, i.attempts, i.how};
    }
  }

  void throw_bad_end() {
    switch (this->state().end()) {
      case group_end::cancelled:
        throw cancelled();
      case group_end::bad_rule:
        std::rethrow_exception(this->state().rule_error());
      case group_end::failures:
        for (const auto& i : instances_) {
          if (i->how == outcome_kind::error) std::rethrow_exception(i->error);
          if (i->how == outcome_kind::timed_out) throw_timed_out(i->index, i->attempts);
        }
        return;
      default:
        return;
    }
  }

  std::vector<std::unique_ptr<instance_of>> instances_;  // guarded by the lock
};

// With a body.
template <class T, class R, class F>
class group_with final : public group_of<T, R> {
  using base = group_of<T, R>;
  using typename base::instance_of;
  using ticket = instance_ticket<T>;
  using form = body_form<F, T, ticket>;

 public:
  template <class G>
  group_with(instance_place where, G&& body, const instance_options& options, const char* call)
      : base(std::move(where), options,
             {.kind = body_kind<F, T, ticket>, .add_others = form::wants_ticket}, call),
        body_(std::forward<G>(body)) {
    if (!std::copy_constructible<T> && options.retry.times > 0) {
      throw std::invalid_argument(std::string("weft: ") + call +
                                  ": instance_options::retry needs items that can be copied, one "
                                  "for each attempt; add pointers to them");
    }
  }

 private:
  static constexpr bool is_coroutine = body_kind<F, T, ticket> == task_kind::coroutine;

  task<void> make_attempt(instance& i) override {
    if constexpr (is_coroutine) {
      return run_task(*this, base::same(i));
    } else {
      return run_function(*this, base::same(i));
    }
  }
  void forget_body() noexcept override { body_.reset(); }

  // Apart from the call, because g++ keeps all variables of a coroutine in its frame.
  static task<void> run_function(group_with& group, instance_of& i) {
    group.call_function(i);
    co_return;
  }
  void call_function(instance_of& i) noexcept {
    try {
      arguments with;
      i.value.emplace(
          detail::call_for_value([&]() -> decltype(auto) { return this->call(i, with); }));
      i.how = outcome_kind::value;
    } catch (...) {
      i.keep_exception();
    }
    release_item(i);
  }

  static task<void> run_task(group_with& group, instance_of& i) {
    try {
      arguments with;
      auto work = group.call(i, with);
      if constexpr (std::is_void_v<R>) {
        co_await std::move(work);
        i.value.emplace();
      } else {
        i.value.emplace(co_await std::move(work));
      }
      i.how = outcome_kind::value;
    } catch (...) {
      i.keep_exception();
    }
    group.release_item(i);
  }

  // What a body is called with, besides the item of the instance: a coroutine may take it by
  // reference, and then it stays as long as that.
  struct arguments {
    std::optional<T> copy;  // of the item: a retry needs it again
    std::stop_token token;
    std::optional<ticket> more;
  };
  decltype(auto) call(instance_of& i, arguments& with) {
    if (this->options_.timeout) this->limit_attempt(i);
    if constexpr (std::copy_constructible<T>) {
      if (this->options_.retry.times > 0) with.copy.emplace(*i.item);
    }
    if constexpr (form::wants_token) with.token = i.stop_token();
    T& item = with.copy ? *with.copy : *i.item;
    return call_body(*body_, with.token, std::move(item), [&]() -> ticket&& {
      auto mine = std::static_pointer_cast<group_for<T>>(this->shared_from_this());
      return std::move(with.more.emplace(std::move(mine)));
    });
  }

  // What it holds, perhaps a ticket, is not needed until the group goes.
  void release_item(instance_of& i) noexcept {
    const bool is_last = i.attempts > this->options_.retry.times;
    if (is_last || i.how == outcome_kind::value) i.item.reset();
  }

  std::optional<F> body_;  // until the owner goes
};

}  // namespace flow
}  // namespace weft
