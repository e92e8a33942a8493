#pragma once

#include <concepts>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/core/job_types.hpp>

namespace weft::detail {

// How an item is kept from the moment the input gives it until its function has run.
//
// An element of a forward range stays where it is, so the function gets a reference to it, as in
// the loop. What a single-pass iterator shows, or makes up when asked, is gone when the iterator
// moves on: it is kept as a value.
template <std::input_iterator I>
struct kept_item {
  using reference = std::iter_reference_t<I>;
  static constexpr bool is_lvalue = std::is_lvalue_reference_v<reference>;
  static constexpr bool stays = is_lvalue && std::forward_iterator<I>;

  using type = std::conditional_t<
      stays, std::add_pointer_t<reference>,
      std::conditional_t<is_lvalue, std::iter_value_t<I>, std::remove_cvref_t<reference>>>;
  // What the function is called with.
  using argument = std::conditional_t<is_lvalue, reference, std::remove_cvref_t<reference>&&>;

  static_assert(stays || std::constructible_from<type, reference>,
                "weft: map must keep the items of a single-pass range while it reads ahead, and "
                "these can be neither copied nor moved; give it a forward range");

  static type keep(const I& at) {
    if constexpr (stays) {
      return std::addressof(*at);
    } else {
      return type(*at);
    }
  }
  static argument pass(type& item) {
    if constexpr (stays) {
      return *item;
    } else {
      return static_cast<argument>(item);
    }
  }
};

template <class V>
using kept_of = kept_item<std::ranges::iterator_t<V>>;

// Reads one or more ranges side by side, like the head of a for loop, and stops at the shortest.
//
// Threads: one, that of the consumer. An iterator is advanced only when the next item is wanted, so
// what it does happens as late as in the loop.
template <std::ranges::view... Views>
class map_input {
 public:
  using items = std::tuple<typename kept_of<Views>::type...>;

  explicit map_input(Views... views) : views_(std::move(views)...) {}

  // Puts the next items there; false at the end of the shortest range.
  bool next(std::optional<items>& into) { return next(into, std::index_sequence_for<Views...>{}); }

 private:
  template <std::size_t... N>
  bool next(std::optional<items>& into, std::index_sequence<N...>) {
    if (!at_) {
      at_.emplace(std::ranges::begin(std::get<N>(views_))...);
    } else {
      (static_cast<void>(++std::get<N>(*at_)), ...);
    }
    const bool more = ((std::get<N>(*at_) != std::ranges::end(std::get<N>(views_))) && ...);
    if (more) into.emplace(kept_of<Views>::keep(std::get<N>(*at_))...);
    return more;
  }

  std::tuple<Views...> views_;
  std::optional<std::tuple<std::ranges::iterator_t<Views>...>> at_;
};

// Calls a function of a map with items that were kept.
template <class F, class... Views>
struct map_call {
  using result = typename token_invoke_result<const F&, typename kept_of<Views>::argument...>::type;

  static result with(const std::stop_token& token, const F& f,
                     typename map_input<Views...>::items& kept) {
    return [&]<std::size_t... N>(std::index_sequence<N...>) -> result {
      return invoke_with_token(token, f, kept_of<Views>::pass(std::get<N>(kept))...);
    }(std::index_sequence_for<Views...>{});
  }
};

}  // namespace weft::detail
