#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/core/crew_access.hpp>
#include <weft/core/errors.hpp>
#include <weft/core/job_memory.hpp>

namespace weft {
namespace detail {

// A callable whose first parameter is a std::stop_token receives it, as with std::jthread.
template <class F, class... Args>
concept takes_stop_token = std::invocable<F, std::stop_token, Args...>;

template <class F, class... Args>
decltype(auto) invoke_with_token(const std::stop_token& token, F&& f, Args&&... args) {
  if constexpr (takes_stop_token<F, Args...>) {
    return std::invoke(std::forward<F>(f), token, std::forward<Args>(args)...);
  } else {
    return std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  }
}

template <class F, class... Args>
struct token_invoke_result : std::invoke_result<F, Args...> {};
template <class F, class... Args>
  requires takes_stop_token<F, Args...>
struct token_invoke_result<F, Args...> : std::invoke_result<F, std::stop_token, Args...> {};

// void has no values: pairs, arrays and vectors hold std::monostate for it.
template <class T>
using value_of = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// Calls f; gives std::monostate for void.
template <class F, class... Args>
auto call_for_value(F&& f, Args&&... args) -> value_of<std::invoke_result_t<F, Args...>> {
  if constexpr (std::is_void_v<std::invoke_result_t<F, Args...>>) {
    std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
    return {};
  } else {
    return std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  }
}

// A function pointer or std::function that holds nothing would fail later, far from the mistake.
template <class F>
void require_callable(const F& f, const char* name) {
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F> ||
                (std::is_class_v<F> && std::is_constructible_v<bool, const F&> &&
                 requires { f == nullptr; })) {
    if (f == nullptr) {
      throw std::invalid_argument(std::string("weft: ") + name +
                                  " was given an empty function; pass one that can be called");
    }
  }
}

// What a job left behind: a value, or the exception that came instead.
template <class T>
class outcome {
  static_assert(!std::is_rvalue_reference_v<T>,
                "weft: a job's result must not be an rvalue reference, for what it refers to is "
                "gone when somebody looks; return the value");
  static_assert(std::is_void_v<T> || std::is_reference_v<T> || std::is_nothrow_destructible_v<T>,
                "weft: a job's result must have a destructor that does not throw, for there is "
                "nobody to catch it");
  using stored =
      std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                         value_of<T>>;

 public:
  // Calls f and keeps the value or the exception.
  template <class F>
  void fill(F&& f) noexcept {
    try {
      // The lambda lets the value be built in place.
      state_.template emplace<1>(from_call{[&]() -> stored { return call_for_value(f); }});
    } catch (...) {
      state_.template emplace<2>(std::current_exception());
    }
  }
  void fail(std::exception_ptr error) noexcept { state_.template emplace<2>(std::move(error)); }

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 1; }
  [[nodiscard]] bool failed() const noexcept { return state_.index() == 2; }
  [[nodiscard]] std::exception_ptr error() const noexcept {
    return failed() ? std::get<2>(state_).value : nullptr;
  }

  // The value, which must be there, where it is.
  std::remove_reference_t<value_of<T>>& value() noexcept { return std::get_if<1>(&state_)->value; }
  // Moves the value out or throws.
  value_of<T> take() {
    if (failed()) std::rethrow_exception(std::move(std::get<2>(state_).value));
    if constexpr (std::is_reference_v<T>) {
      return std::get<1>(state_).value.get();
    } else {
      return std::move(std::get<1>(state_).value);
    }
  }

 private:
  template <class F>
  struct from_call {
    F f;
  };
  template <class F>
  from_call(F) -> from_call<F>;
  struct holder {
    template <class F>
    explicit holder(from_call<F> c) : value(c.f()) {}
    stored value;
  };
  struct failure {
    explicit failure(std::exception_ptr e) noexcept : value(std::move(e)) {}
    std::exception_ptr value;
  };

  std::variant<std::monostate, holder, failure> state_;
};

// A spawned job that nobody waits for.
template <class F>
class detached_job final : public queued_job, public job_memory {
  static_assert(std::is_nothrow_destructible_v<F>,
                "weft: a spawned callable must have a destructor that does not throw");

 public:
  template <class G>
  detached_job(crew& c, G&& f) : crew_(&c), f_(std::forward<G>(f)) {
    call = &called;
  }

 private:
  static void called(job& self, job_fate fate) noexcept {
    std::unique_ptr<detached_job> me(static_cast<detached_job*>(&self));
    if (fate == job_fate::drop) return;
    try {
      if constexpr (takes_stop_token<F&>) {
        me->f_(stop_token_of(*me->crew_));
      } else {
        me->f_();
      }
    } catch (...) {
      report_unhandled(*me->crew_, std::current_exception());
    }
  }

  crew* crew_;
  F f_;
};

// A job in the frame of a caller that waits for it.
template <class F>
class root_job final : public queued_job {
 public:
  using result = std::invoke_result_t<F&>;

  explicit root_job(F& f) noexcept : f_(f) { call = &called; }

  latch& done() noexcept { return done_; }
  decltype(auto) take() { return result_.take(); }

 private:
  static void called(job& self, job_fate fate) noexcept {
    auto& me = static_cast<root_job&>(self);
    if (fate == job_fate::run) {
      me.result_.fill(me.f_);
    } else {
      me.result_.fail(std::make_exception_ptr(cancelled()));
    }
    me.done_.set();  // `me` may be gone from here on
  }

  F& f_;
  outcome<result> result_;
  latch done_;
};

}  // namespace detail

// What pool::spawn takes: callable with nothing or with a std::stop_token; the result is discarded.
template <class F>
concept job_callable =
    std::constructible_from<std::decay_t<F>, F> &&
    (std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, std::stop_token>);

// What pool::run takes: it is called where it stands, and may return anything.
template <class F>
concept runnable = std::invocable<F> || std::invocable<F, std::stop_token>;

template <class F>
using run_result_t = typename detail::token_invoke_result<F>::type;

// What pool::submit takes.
template <class F, class... Args>
concept submittable = std::constructible_from<std::decay_t<F>, F> &&
                      (std::constructible_from<std::decay_t<Args>, Args> && ...) &&
                      (std::invocable<std::decay_t<F>, std::decay_t<Args>...> ||
                       std::invocable<std::decay_t<F>, std::stop_token, std::decay_t<Args>...>);

template <class F, class... Args>
using submit_result_t =
    typename detail::token_invoke_result<std::decay_t<F>, std::decay_t<Args>...>::type;

}  // namespace weft
