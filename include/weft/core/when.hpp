#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/atomic.hpp>
#include <weft/core/future.hpp>
#include <weft/core/pool.hpp>

namespace weft {

// What when_any() found first, and the futures that were not.
template <class T>
struct when_any_result {
  std::size_t index = 0;
  detail::value_of<T> value;
  std::vector<future<T>> others;  // in their places; the one at `index` is used up
};

namespace detail {

// A job that waits for several futures without a thread: it is handed to the pool when enough of
// them are done. `Collect` owns the futures and makes the result; it is given the index of the one
// that came last.
template <class Result, class Collect>
class combined final : public future_state<Result> {
 public:
  combined(crew& c, std::vector<future_state_base*> inputs, std::size_t needed, Collect collect)
      : future_state<Result>(c, future_state_base::phase::blocked),
        home_(c),
        collect_(std::move(collect)),
        arrivals_(inputs.size()),
        inputs_(std::move(inputs)),
        missing_(static_cast<std::ptrdiff_t>(needed)),
        gate_(inputs_.empty() ? 1 : 2) {
    for (auto* input : inputs_) input->add_references(1);
  }

  void start() noexcept {
    // Every input keeps this alive until it has arrived, needed or not.
    this->add_references(static_cast<std::uint32_t>(inputs_.size()));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      arrivals_[i].owner = this;
      arrivals_[i].index = i;
      if (!inputs_[i]->done().try_register(arrivals_[i])) arrivals_[i].wake();
    }
    one_of_two_done();
  }

 private:
  struct arrival final : waiter {
    void wake() noexcept override { owner->arrived(index); }
    combined* owner = nullptr;
    std::size_t index = 0;
  };

  void arrived(std::size_t index) noexcept {
    // acq_rel: the one that completes the number has seen all results before it.
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      last_ = index;
      one_of_two_done();
    }
    this->release();
  }
  // The job goes on when enough inputs are there and start() has registered at all of them.
  void one_of_two_done() noexcept {
    if (gate_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->unblock();
    continue_with(this->home(), *this);
  }
  // The inputs that were not needed are handed back: nobody may wait at their latches any more.
  void withdraw() noexcept {
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
      if (inputs_[i]->done().try_unregister(arrivals_[i])) this->release();  // it will not arrive
    }
  }
  void produce() noexcept override {
    withdraw();
    this->result_.fill([this]() -> Result { return (*collect_)(last_); });
    abandon();
  }
  void abandon() noexcept override {
    collect_.reset();
    forget_inputs();
  }

  ~combined() override { forget_inputs(); }
  future_state_base* retain_input() noexcept override {
    const std::lock_guard lock(inputs_mutex_);
    for (auto* input : inputs_) {
      if (input->done().is_set()) continue;
      input->add_references(1);
      return input;
    }
    return nullptr;
  }
  // As soon as they are used: a long chain must not be freed by recursion.
  void forget_inputs() noexcept {
    std::vector<future_state_base*> inputs;
    {
      const std::lock_guard lock(inputs_mutex_);
      inputs.swap(inputs_);
    }
    for (auto* input : inputs) input->release();
  }

  const crew_reference home_;  // its pool may go before the last input is there
  std::optional<Collect> collect_;
  std::vector<arrival> arrivals_;
  std::mutex inputs_mutex_;
  std::vector<future_state_base*> inputs_;  // guarded by inputs_mutex_ against retain_input()
  atomic<std::ptrdiff_t> missing_;
  atomic<int> gate_;  // 2: neither has happened
  std::size_t last_ = 0;
};

template <class Result, class Collect>
future<Result> start_combined(crew& c, std::vector<future_state_base*> inputs, std::size_t needed,
                              Collect collect) {
  auto* job = new combined<Result, Collect>(c, std::move(inputs), needed, std::move(collect));
  future<Result> result = adopt_state<Result>(job);
  job->start();
  return result;
}

template <class T>
std::vector<future_state_base*> states_of(std::vector<future<T>>& futures, const char* name) {
  std::vector<future_state_base*> states;
  states.reserve(futures.size());
  for (auto& f : futures) states.push_back(&state_of(f, name));
  return states;
}

template <class T>
value_of<T> value_from(future<T>& f) {
  return call_for_value([&f]() -> T { return f.get(); });
}

}  // namespace detail

// All the values, in the order of the arguments; void counts as std::monostate. If some fail, the
// future has the exception of the first by position, once all are done.
template <class First, class... Rest>
[[nodiscard]] auto when_all(future<First> first, future<Rest>... rest)
    -> future<std::tuple<detail::value_of<First>, detail::value_of<Rest>...>> {
  using result = std::tuple<detail::value_of<First>, detail::value_of<Rest>...>;
  std::vector<detail::future_state_base*> inputs{&state_of(first, "when_all"),
                                                 &state_of(rest, "when_all")...};
  detail::crew& home = inputs.front()->home();
  return detail::start_combined<result>(
      home, std::move(inputs), 1 + sizeof...(rest),
      [futures = std::tuple(std::move(first), std::move(rest)...)](std::size_t) mutable {
        return std::apply([](auto&... f) { return result{detail::value_from(f)...}; }, futures);
      });
}

template <class T>
[[nodiscard]] auto when_all(std::vector<future<T>> futures)
    -> future<std::vector<detail::value_of<T>>> {
  using result = std::vector<detail::value_of<T>>;
  auto inputs = detail::states_of(futures, "when_all");
  const std::size_t count = inputs.size();
  detail::crew& home = inputs.empty() ? detail::crew_of(pool::here()) : inputs.front()->home();
  return detail::start_combined<result>(home, std::move(inputs), count,
                                        [futures = std::move(futures)](std::size_t) mutable {
                                          result values;
                                          values.reserve(futures.size());
                                          for (auto& f : futures)
                                            values.push_back(detail::value_from(f));
                                          return values;
                                        });
}

// The first value to come, with the others, which go on and are handed back. If the first to come
// is an exception, get() throws it, and the others are let go: they go on all the same.
// Errors: std::invalid_argument when there is nothing to wait for.
template <class T>
[[nodiscard]] auto when_any(std::vector<future<T>> futures) -> future<when_any_result<T>> {
  if (futures.empty()) {
    throw std::invalid_argument(
        "weft: when_any of no futures would never be ready; pass at least one");
  }
  static_assert(!std::is_reference_v<T>,
                "weft: when_any takes futures of values; a reference cannot be kept in its result");
  auto inputs = detail::states_of(futures, "when_any");
  detail::crew& home = inputs.front()->home();
  return detail::start_combined<when_any_result<T>>(
      home, std::move(inputs), 1, [futures = std::move(futures)](std::size_t first) mutable {
        auto value = detail::value_from(futures[first]);
        return when_any_result<T>{
            .index = first, .value = std::move(value), .others = std::move(futures)};
      });
}

}  // namespace weft
