#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <deque>
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
    auto lock = this->lock();
    if (!this->may_add()) return false;
    records_.emplace_back(records_.size(), std::move(item));
    this->added(lock);
    return true;
  }

  // Of those that have ended and were not handed out before.
  // Errors: when the group was cancelled, cancelled; when more failed than are tolerated, what the
  // one with the lowest index threw; what the predicate of the join rule threw.
  std::vector<outcome<R>> take_outcomes() {
    const auto lock = this->lock();
    throw_bad_end();
    std::vector<outcome<R>> outcomes;
    outcomes.reserve(records_.size());
    const auto take = [&](record& r) {
      if (r.has_ended && !std::exchange(r.handed_out, true)) outcomes.push_back(outcome_of(r));
    };
    if (this->options_.order == result_order::by_index) {
      for (record& r : records_) take(r);
    } else {
      for (const std::size_t i : this->ended_in_order()) take(records_[i]);
    }
    return outcomes;
  }

  // None: there is none yet, or there will be none.
  std::optional<outcome<R>> take_next() {
    const auto lock = this->lock();
    if (auto* const r = this->next_result()) return outcome_of(static_cast<record&>(*r));
    throw_bad_end();
    return std::nullopt;
  }

  // What the items, results and errors hold; when nothing runs any more. Without the lock, which
  // nobody needs who is left, because with an item a ticket may go, and takes it.
  void forget() noexcept {
    for (record& r : records_) {
      r.item.reset();
      r.value.reset();
      r.error = nullptr;
    }
    this->state().forget_rule_error();
  }

 protected:
  struct record : instance_record {
    record(std::size_t i, T it) : instance_record(i), item(std::move(it)) {}
    std::optional<T> item;
    std::optional<detail::value_of<R>> value;  // written by the attempt
  };

  using group_for<T>::group_for;
  ~group_of() override = default;

 private:
  instance_record& record_of(std::size_t index) noexcept final { return records_[index]; }

  static outcome<R> outcome_of(record& r) {
    switch (r.how) {
      case outcome_kind::value:
        return {r.index, r.attempts, std::move(*r.value)};
      case outcome_kind::error:
        return {r.index, r.attempts, r.error};
      default:
        return {r.index, r.attempts, r.how};
    }
  }

  void throw_bad_end() {
    switch (this->state().end()) {
      case group_end::cancelled:
        throw cancelled();
      case group_end::bad_rule:
        std::rethrow_exception(this->state().rule_error());
      case group_end::failures:
        for (record& r : records_) {
          if (r.how == outcome_kind::error) std::rethrow_exception(r.error);
          if (r.how == outcome_kind::timed_out) throw_timed_out(r.index, r.attempts);
        }
        return;
      default:
        return;
    }
  }

  std::deque<record> records_;  // guarded by the lock; what is in it stays where it is
};

// With a body.
template <class T, class R, class F>
class group_with final : public group_of<T, R> {
  using base = group_of<T, R>;
  using typename base::record;
  using ticket = instance_ticket<T>;
  using form = body_form<F, T, ticket>;

 public:
  template <class G>
  group_with(instance_place where, G&& body, const instance_options& options, const char* call)
      : base(std::move(where), options, body_kind<F, T, ticket>, call),
        body_(std::forward<G>(body)) {
    if (!std::copy_constructible<T> && options.retry.times > 0) {
      throw std::invalid_argument(std::string("weft: ") + call +
                                  ": instance_options::retry needs items that can be copied, one "
                                  "for each attempt; add pointers to them");
    }
  }

 private:
  task<void> make_attempt(instance_record& r, attempt a) override {
    return run(std::move(a), *this, static_cast<record&>(r));
  }

  static task<void> run(attempt /*until the end*/ a, group_with& group, record& r) {
    static_cast<void>(a);
    try {
      if (group.options_.timeout) group.limit_attempt(r);
      std::stop_token token;
      if constexpr (form::wants_token) token = co_await this_task::stop_token();
      const auto make_ticket = [&group] {
        return ticket(std::static_pointer_cast<group_for<T>>(group.shared_from_this()));
      };
      // A retry needs the item again.
      std::optional<T> copy;
      if constexpr (std::copy_constructible<T>) {
        if (group.options_.retry.times > 0) copy = r.item;
      }
      T& item = copy ? *copy : *r.item;
      if constexpr (body_kind<F, T, ticket> == task_kind::coroutine) {
        auto work = call_body(group.body_, token, std::move(item), make_ticket);
        if constexpr (std::is_void_v<R>) {
          co_await std::move(work);
          r.value.emplace();
        } else {
          r.value.emplace(co_await std::move(work));
        }
      } else {
        r.value.emplace(detail::call_for_value([&]() -> decltype(auto) {
          return call_body(group.body_, token, std::move(item), make_ticket);
        }));
      }
      r.how = outcome_kind::value;
    } catch (const cancelled&) {
      r.how = outcome_kind::cancelled;
    } catch (...) {
      r.error = std::current_exception();
      r.how = outcome_kind::error;
    }
    // What the item holds, perhaps a ticket, is not needed until the group goes.
    if (r.attempts > group.options_.retry.times || r.how == outcome_kind::value) r.item.reset();
  }

  F body_;
};

}  // namespace flow
}  // namespace weft
