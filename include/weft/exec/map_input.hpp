#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::detail {

[[noreturn]] void throw_item_inside_iterator();

// An element of a forward range stays where it is, so the function gets a reference to it, as in
// the loop. Some iterators, such as those of <regex>, call themselves forward and show an element
// that lives inside them: that one is copied.
template <std::input_iterator I>
class element_in_place {
 public:
  using reference = std::iter_reference_t<I>;

  explicit element_in_place(const I& at) : element_(std::addressof(*at)) {
    const auto* const place = reinterpret_cast<const volatile char*>(element_);
    const auto* const iterator = reinterpret_cast<const volatile char*>(std::addressof(at));
    const std::less<> before;
    if (before(place, iterator) || !before(place, iterator + sizeof(I))) return;
    if constexpr (std::copy_constructible<std::iter_value_t<I>>) {
      copy_ = std::make_unique<std::iter_value_t<I>>(*element_);
      element_ = copy_.get();
    } else {
      throw_item_inside_iterator();
    }
  }
  [[nodiscard]] reference get() const noexcept { return *element_; }

 private:
  std::add_pointer_t<reference> element_;
  std::unique_ptr<std::iter_value_t<I>> copy_;
};

// What a single-pass iterator shows, or makes up when asked, is gone when the iterator moves on: it
// is kept as a value until its result has been used.
template <std::input_iterator I>
class element_by_value {
  using reference = std::iter_reference_t<I>;
  using value = std::conditional_t<std::is_lvalue_reference_v<reference>, std::iter_value_t<I>,
                                   std::remove_cvref_t<reference>>;
  static_assert(std::constructible_from<value, reference>,
                "weft: map must keep the items of this range while it reads ahead, and these can "
                "be neither copied nor moved, or not destroyed without throwing; give it a range "
                "whose elements stay where they are");

 public:
  explicit element_by_value(const I& at) : value_(*at) {}
  // A const element stays const.
  [[nodiscard]] auto& get() noexcept {
    if constexpr (std::is_const_v<std::remove_reference_t<reference>>) {
      return std::as_const(value_);
    } else {
      return value_;
    }
  }

 private:
  value value_;
};

template <class I>
concept elements_stay =
    std::forward_iterator<I> && std::is_lvalue_reference_v<std::iter_reference_t<I>>;

template <std::input_iterator I>
using kept_item = std::conditional_t<elements_stay<I>, element_in_place<I>, element_by_value<I>>;

template <class V>
using kept_of = kept_item<std::ranges::iterator_t<V>>;

// What a function of a map is called with: an lvalue, as the loop variable is.
template <class V>
using item_of = decltype(std::declval<kept_of<V>&>().get());
// Only where the function does not take that: the item itself, to be moved from.
template <class V>
using moved_item_of = std::remove_reference_t<item_of<V>>&&;

// Reads one or more ranges side by side, like the head of a for loop, and stops at the shortest.
//
// Threads: one, that of the consumer. An iterator is advanced only when the next item is wanted, so
// what it does happens as late as in the loop.
template <std::ranges::view... Views>
class map_input {
 public:
  using items = std::tuple<kept_of<Views>...>;

  explicit map_input(Views... views) : views_(std::move(views)...) {}

  // Adds the next items; false at the end of the shortest range.
  bool next(std::vector<items>& into) { return next(into, std::index_sequence_for<Views...>{}); }

 private:
  template <std::size_t... N>
  bool next(std::vector<items>& into, std::index_sequence<N...>) {
    // Braces, so that everything is done from left to right.
    if (!at_) {
      at_.emplace(positions{std::ranges::begin(std::get<N>(views_))...});
      ends_.emplace(sentinels{std::ranges::end(std::get<N>(views_))...});
    } else {
      (static_cast<void>(++std::get<N>(*at_)), ...);
    }
    if (!((std::get<N>(*at_) != std::get<N>(*ends_)) && ...)) return false;
    into.push_back(items{kept_of<Views>(std::get<N>(*at_))...});
    return true;
  }

  using positions = std::tuple<std::ranges::iterator_t<Views>...>;
  using sentinels = std::tuple<std::ranges::sentinel_t<Views>...>;

  std::tuple<Views...> views_;
  std::optional<positions> at_;
  std::optional<sentinels> ends_;
};

// How a function of a map is called: as the loop would, f(item...); where that does not compile,
// with items to be moved from; otherwise with a std::stop_token first.
enum class map_signature : std::uint8_t { items, moved_items, token_items, token_moved, none };

template <class F, class... Views>
inline constexpr map_signature signature_of =
    std::invocable<const F&, item_of<Views>...>                    ? map_signature::items
    : std::invocable<const F&, moved_item_of<Views>...>            ? map_signature::moved_items
    : std::invocable<const F&, std::stop_token, item_of<Views>...> ? map_signature::token_items
    : std::invocable<const F&, std::stop_token, moved_item_of<Views>...>
        ? map_signature::token_moved
        : map_signature::none;

template <map_signature, class F, class... Views>
struct map_result;
template <class F, class... Views>
struct map_result<map_signature::items, F, Views...>
    : std::invoke_result<const F&, item_of<Views>...> {};
template <class F, class... Views>
struct map_result<map_signature::moved_items, F, Views...>
    : std::invoke_result<const F&, moved_item_of<Views>...> {};
template <class F, class... Views>
struct map_result<map_signature::token_items, F, Views...>
    : std::invoke_result<const F&, std::stop_token, item_of<Views>...> {};
template <class F, class... Views>
struct map_result<map_signature::token_moved, F, Views...>
    : std::invoke_result<const F&, std::stop_token, moved_item_of<Views>...> {};

template <class F, class... Views>
using map_result_t = typename map_result<signature_of<F, Views...>, F, Views...>::type;

// Calls a function of a map with items that were kept.
template <class F, class... Views>
map_result_t<F, Views...> call_with_items(const std::stop_token& token, const F& f,
                                          typename map_input<Views...>::items& kept) {
  constexpr map_signature form = signature_of<F, Views...>;
  return [&]<std::size_t... N>(std::index_sequence<N...>) -> map_result_t<F, Views...> {
    if constexpr (form == map_signature::items) {
      return std::invoke(f, std::get<N>(kept).get()...);
    } else if constexpr (form == map_signature::moved_items) {
      return std::invoke(f, static_cast<moved_item_of<Views>>(std::get<N>(kept).get())...);
    } else if constexpr (form == map_signature::token_items) {
      return std::invoke(f, token, std::get<N>(kept).get()...);
    } else {
      return std::invoke(f, token, static_cast<moved_item_of<Views>>(std::get<N>(kept).get())...);
    }
  }(std::index_sequence_for<Views...>{});
}

}  // namespace weft::detail
