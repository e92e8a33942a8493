#pragma once

#include <concepts>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <weft/core/job_types.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/this_task.hpp>
#include <weft/io/hybrid.hpp>

// The forms that the body of an instance may have, besides being a function or a coroutine:
//
//   f(item)              f(stop_token, item)
//   f(item, ticket)      f(stop_token, item, ticket)       adds more instances
namespace weft::flow {

struct no_ticket {};

template <class F, class Item, class Ticket>
struct body_form {
  static constexpr bool plain = std::invocable<F&, Item>;
  static constexpr bool with_token = std::invocable<F&, std::stop_token, Item>;
  static constexpr bool with_ticket =
      !std::same_as<Ticket, no_ticket> && std::invocable<F&, Item, Ticket>;
  static constexpr bool with_both =
      !std::same_as<Ticket, no_ticket> && std::invocable<F&, std::stop_token, Item, Ticket>;

  static constexpr bool is_valid = plain || with_token || with_ticket || with_both;
  // What takes an item and a ticket may look as if it took a token and an item, when it is generic.
  static constexpr bool wants_ticket = !plain && (with_ticket || with_both);
  static constexpr bool wants_token = !plain && !with_ticket;
};

// Calls a body that is_valid. `token` and `ticket` are made only for those who want them.
template <class F, class Item, class MakeTicket>
decltype(auto) call_body(F& f, const std::stop_token& token, Item&& item,
                         const MakeTicket& make_ticket) {
  using form = body_form<F, Item, std::remove_cvref_t<std::invoke_result_t<const MakeTicket&>>>;
  if constexpr (form::wants_ticket && form::wants_token) {
    return std::invoke(f, token, std::forward<Item>(item), make_ticket());
  } else if constexpr (form::wants_ticket) {
    return std::invoke(f, std::forward<Item>(item), make_ticket());
  } else if constexpr (form::wants_token) {
    return std::invoke(f, token, std::forward<Item>(item));
  } else {
    return std::invoke(f, std::forward<Item>(item));
  }
}

template <class F, class Item, class Ticket>
using body_return_t = decltype(call_body(std::declval<F&>(), std::stop_token(),
                                         std::declval<Item>(), std::declval<Ticket (*const&)()>()));

// What the instance gives: for a coroutine what that returns.
template <class F, class Item, class Ticket = no_ticket>
using body_result_t = typename io::task_result<body_return_t<F, Item, Ticket>>::type;
template <class F, class Item, class Ticket = no_ticket>
inline constexpr task_kind body_kind = io::task_result<body_return_t<F, Item, Ticket>>::kind;

}  // namespace weft::flow
