#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <weft/exec/map_run.hpp>

namespace weft {

// Can be called through a const reference, as several threads at once must: a mutable lambda
// cannot.
template <class F, class... Ranges>
concept callable_from_several_threads =
    detail::signature_of<std::decay_t<F>, std::views::all_t<Ranges>...> !=
    detail::map_signature::none;

// What map takes: ranges that can be read, and a function for an item of each. An element of a
// forward range is passed by reference, as a for loop would.
template <class F, class... Ranges>
concept mappable =
    (std::ranges::viewable_range<Ranges> && ...) && (std::ranges::input_range<Ranges> && ...) &&
    callable_from_several_threads<F, Ranges...>;

// What executor::map and map_unordered return: a range of results, to be read once.
//
// Nothing happens before begin(). Threads: one, which also reads the input; items run elsewhere.
// Blocks: begin() and ++ until the next result is there; the destructor until running items end.
// Errors: begin() and ++ throw what map() promises, and the range is at its end then.
// Lifetime: must not outlive its executor.
template <detail::delivery Order, class F, class... Views>
class [[nodiscard]] map_range : public std::ranges::view_base {
  using run = detail::map_run<Order, F, Views...>;
  using result = typename run::result;

 public:
  class iterator;

  map_range(detail::work_control& control, const map_options& options, F f, Views... views)
      : run_(std::make_unique<run>(control, options, std::move(f), std::move(views)...)) {}

  iterator begin() {
    run_->start();
    return iterator(*run_);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  std::unique_ptr<run> run_;
};

// A result is handed over: `for (auto r : ...)` moves it out, `auto&&` uses it in place until ++.
template <detail::delivery Order, class F, class... Views>
class map_range<Order, F, Views...>::iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = std::remove_cvref_t<detail::value_of<result>>;
  using reference =
      std::conditional_t<std::is_reference_v<result>, result, detail::value_of<result>&&>;

  iterator(iterator&& other) noexcept = default;
  iterator& operator=(iterator&& other) noexcept = default;

  reference operator*() const noexcept { return static_cast<reference>(run_->current()); }
  iterator& operator++() {
    run_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept {
    return i.run_->at_end();
  }

 private:
  friend class map_range;
  explicit iterator(run& r) noexcept : run_(&r) {}
  run* run_;
};

}  // namespace weft
