#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>

#include <weft/core/job_types.hpp>

namespace weft {

// How far a group of instances is.
struct group_progress {
  std::size_t added = 0;
  std::size_t running = 0;
  // Of those that have ended for good; a retry has not.
  std::size_t values = 0;
  std::size_t errors = 0;
  std::size_t timed_out = 0;
  std::size_t cancelled = 0;

  [[nodiscard]] std::size_t failures() const noexcept { return errors + timed_out; }
  [[nodiscard]] std::size_t ended() const noexcept { return values + failures() + cancelled; }
  friend bool operator==(const group_progress&, const group_progress&) = default;
};

// What becomes of instances that run when the join rule fires. What waits for its turn is
// withdrawn.
enum class rest : std::uint8_t {
  let_finish,  // they run on, and nobody asks for their results
  cancel,      // they are asked to stop
};

class join_rule;

// Fires when n instances have given a value. n_of(0) fires before the first: such a group is
// complete from the start. One that never gets n values is complete when nothing is left to run.
[[nodiscard]] join_rule n_of(std::size_t n, rest r = rest::cancel) noexcept;

// Fires when enough(progress) says so; it is asked after each instance that ends, by one thread at
// a time, under the group's lock: it must not call the group. When it throws, the rest is cancelled
// and join() throws that. What it captures by reference outlives the group.
// Errors: std::invalid_argument for an empty function.
template <class F>
[[nodiscard]] join_rule until(F enough, rest r = rest::cancel);

// When a group has enough. Without one it waits for all; and whatever the rule, a group is complete
// when nothing is left that could run.
//
// A plain value that owns nothing: g++ 12 destroys twice what is made for a member of options in an
// expression with a co_await.
class join_rule {
 public:
  // What fits into a rule: a predicate that holds a few numbers, pointers or references.
  template <class F>
  static constexpr bool fits =
      std::is_trivially_copyable_v<F> && sizeof(F) <= 4 * sizeof(void*) &&
      alignof(F) <= alignof(void*) && std::is_invocable_r_v<bool, const F&, const group_progress&>;

  join_rule() noexcept = default;

  // Throws what the predicate throws.
  [[nodiscard]] bool fires(const group_progress& now) const {
    if (values_) return now.values >= *values_;
    return ask_ != nullptr && ask_(predicate_, now);
  }
  // Before anything has ended: n_of(0) asks for nothing. A predicate is not asked.
  [[nodiscard]] bool fires_at_once() const noexcept { return values_ && *values_ == 0; }
  [[nodiscard]] weft::rest rest() const noexcept { return rest_; }
  [[nodiscard]] bool waits_for_all() const noexcept { return !values_ && ask_ == nullptr; }

 private:
  friend join_rule n_of(std::size_t n, weft::rest r) noexcept;
  template <class F>
  friend join_rule until(F enough, weft::rest r);

  std::optional<std::size_t> values_;
  bool (*ask_)(const std::byte* predicate, const group_progress& now) = nullptr;
  alignas(void*) std::byte predicate_[4 * sizeof(void*)] = {};
  weft::rest rest_ = weft::rest::cancel;
};

template <class F>
join_rule until(F enough, rest r) {
  static_assert(join_rule::fits<F>,
                "weft: until() needs a predicate bool(const group_progress&) that holds at most "
                "four pointers' worth of numbers, pointers and references; capture the rest by "
                "reference");
  detail::require_callable(enough, "until");
  join_rule rule;
  std::memcpy(rule.predicate_, &enough, sizeof(F));
  rule.ask_ = [](const std::byte* predicate, const group_progress& now) -> bool {
    return (*std::launder(reinterpret_cast<const F*>(predicate)))(now);
  };
  rule.rest_ = r;
  return rule;
}

}  // namespace weft
