#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/core/future.hpp>
#include <weft/core/when.hpp>
#include <weft/exec/arrivals.hpp>
#include <weft/exec/errors.hpp>

namespace weft {

enum class return_when : std::uint8_t {
  first_completed,  // one is done, whether it failed or not
  first_exception,  // one has failed, or all are done
  all,
};

// Positions in the vector that was waited for, in ascending order.
struct wait_result {
  std::vector<std::size_t> done;
  std::vector<std::size_t> not_done;
};

namespace detail {

inline std::chrono::steady_clock::time_point deadline_of(
    std::optional<std::chrono::nanoseconds> timeout) {
  return timeout ? deadline_after(*timeout) : std::chrono::steady_clock::time_point::max();
}

}  // namespace detail

// Waits for several futures, and says which of them are done; all of them stay valid.
// Blocks: until enough is done or the timeout has passed; a worker helps meanwhile.
// Errors: std::logic_error when one of the futures has no result to wait for.
template <class T>
wait_result wait(std::vector<future<T>>& futures, return_when until = return_when::all,
                 std::optional<std::chrono::nanoseconds> timeout = std::nullopt) {
  const auto deadline = detail::deadline_of(timeout);
  std::vector<bool> done(futures.size());
  {
    detail::arrivals coming(detail::states_of(futures, "wait"), "wait");
    // Those that are there already are all told, also after the deadline.
    for (bool enough = false;;) {
      const auto now = std::chrono::steady_clock::time_point::min();
      const auto index = coming.next(enough ? now : deadline);
      if (!index) break;
      done[*index] = true;
      enough = enough || until == return_when::first_completed ||
               (until == return_when::first_exception &&
                state_of(futures[*index], "wait").result().failed());
    }
  }
  wait_result result;
  for (std::size_t i = 0; i < done.size(); ++i) {
    (done[i] ? result.done : result.not_done).push_back(i);
  }
  return result;
}

// Futures in the order in which they become ready; to be read once.
//
//   for (auto f : weft::as_completed(std::move(futures))) use(f.get());
//
// Threads: one. Blocks: begin() and ++; a worker helps meanwhile. Errors: they throw timed_out when
// the timeout, counted from as_completed(), has passed and nothing more is ready.
template <class T>
class [[nodiscard]] completion_range : public std::ranges::view_base {
 public:
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = future<T>;

    iterator(iterator&&) noexcept = default;
    iterator& operator=(iterator&&) noexcept = default;

    future<T>&& operator*() const noexcept { return std::move(*range_->ready_); }
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept {
      return i.range_->at_end();
    }

   private:
    friend class completion_range;
    explicit iterator(completion_range& range) noexcept : range_(&range) {}
    completion_range* range_;
  };

  completion_range(std::vector<future<T>> futures, std::optional<std::chrono::nanoseconds> timeout)
      : deadline_(detail::deadline_of(timeout)),
        futures_(std::move(futures)),
        coming_(std::make_unique<detail::arrivals>(detail::states_of(futures_, "as_completed"),
                                                   "as_completed")) {}

  iterator begin() {
    if (std::exchange(begun_, true)) {
      throw std::logic_error(
          "weft: begin() was called twice on the range of as_completed, which is read once");
    }
    advance();
    return iterator(*this);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }
  [[nodiscard]] bool at_end() const noexcept { return !ready_; }

 private:
  void advance() {
    ready_.reset();
    const auto index = coming_->next(deadline_);
    if (index) {
      ready_.emplace(std::move(futures_[*index]));
    } else if (!coming_->all_told()) {
      throw timed_out("weft: as_completed: the timeout passed before the next future was ready");
    }
  }

  std::chrono::steady_clock::time_point deadline_;
  std::vector<future<T>> futures_;
  std::unique_ptr<detail::arrivals> coming_;  // after the futures: it lets go of them first
  std::optional<future<T>> ready_;
  bool begun_ = false;
};

template <class T>
auto as_completed(std::vector<future<T>> futures,
                  std::optional<std::chrono::nanoseconds> timeout = std::nullopt) {
  return completion_range<T>(std::move(futures), timeout);
}

}  // namespace weft
