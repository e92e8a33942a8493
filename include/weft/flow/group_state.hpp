#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string_view>

#include <weft/flow/instance_options.hpp>
#include <weft/flow/join_rule.hpp>
#include <weft/flow/outcome.hpp>

namespace weft {

// Why a group of instances is complete.
enum class group_end : std::uint8_t {
  not_yet,
  all_ended,  // neither an instance nor a ticket is left
  enough,     // the join rule fired
  completed,  // complete() was called
  cancelled,  // cancel() was called, or the task that waited was asked to stop
  timed_out,  // total_timeout passed
  failures,   // more failed than are tolerated
  bad_rule,   // the predicate of the join rule threw
};

// "not yet", "all ended", "enough", "completed", "cancelled", "timed out", "too many failures" or
// "the join rule threw".
[[nodiscard]] std::string_view to_string(group_end end) noexcept;

namespace flow {

struct group_rules {
  join_rule join = {};
  std::size_t max_running = 0;
  unsigned retries = 0;
  std::optional<failure_tolerance> tolerated = std::nullopt;
  bool instances_add_others = false;
};

// What a group of instances decides: which one starts, whether one that failed starts again, and
// when the group is complete. It starts and stops nothing itself.
//
// An instance waits, runs, rests before a retry, and ends; from the first three it may be
// withdrawn.
//   1. added == waiting + running + resting + ended.
//   2. Once complete, nothing waits or rests, nothing is added and nothing starts.
//   3. running <= max_running, unless that is 0.
//
// Threads: one at a time.
class group_state {
 public:
  explicit group_state(const group_rules& rules);

  // -- what is asked for --------------------------------------------------------------------------
  // The right to add; false: the group is complete.
  bool open_ticket() noexcept;
  void close_ticket() noexcept;
  // By the holder of a ticket. The index of the new instance; none: the group is complete.
  std::optional<std::size_t> add() noexcept {
    if (is_complete()) return std::nullopt;
    return progress_.added++;
  }
  // Nobody will come who has no ticket now.
  void expect_no_more() noexcept;
  void complete() noexcept { end_with(group_end::completed); }
  void cancel() noexcept { end_with(group_end::cancelled); }
  void time_out() noexcept { end_with(group_end::timed_out); }

  // -- what happens -------------------------------------------------------------------------------
  // The instance that may start now, and counts as running from here on.
  std::optional<std::size_t> start_next() noexcept;
  // As start_next(), of one that was just added, by whoever did that. False: others come first.
  [[nodiscard]] bool start_added(std::size_t index) noexcept;
  [[nodiscard]] bool can_start() const noexcept {
    if (next_fresh_ == progress_.added && to_be_retried_.empty()) return false;
    return !is_complete() && (rules_.max_running == 0 || progress_.running < rules_.max_running);
  }

  enum class step : std::uint8_t {
    ended,  // for good
    rests,  // until retry()
  };
  // Whether an attempt that ends so is followed by another. `attempts` with this one.
  [[nodiscard]] bool is_retried(outcome_kind how, unsigned attempts) const noexcept {
    const bool has_failed = how == outcome_kind::error || how == outcome_kind::timed_out;
    return has_failed && !is_complete() && attempts <= rules_.retries;
  }
  step attempt_ended(std::size_t index, outcome_kind how, unsigned attempts) noexcept;
  // As attempt_ended(), of one that is followed by no other.
  void ended(outcome_kind how) noexcept;
  // So many at once have ended with a value, where no rule wants to know of each.
  void values_ended(std::size_t count) noexcept;
  // Its rest is over. False: it was withdrawn meanwhile.
  bool retry(std::size_t index);

  // -- how things stand ---------------------------------------------------------------------------
  [[nodiscard]] bool is_complete() const noexcept { return end_ != group_end::not_yet; }
  [[nodiscard]] group_end end() const noexcept { return end_; }
  // Whether those that run are asked to stop.
  [[nodiscard]] bool stops_running() const noexcept;
  // Complete, and nothing runs.
  [[nodiscard]] bool is_idle() const noexcept { return is_complete() && progress_.running == 0; }
  // Complete, and nothing runs that was asked to stop.
  [[nodiscard]] bool is_joinable() const noexcept;
  [[nodiscard]] const group_progress& progress() const noexcept { return progress_; }
  [[nodiscard]] std::size_t tickets() const noexcept { return tickets_; }
  // What the predicate threw.
  [[nodiscard]] std::exception_ptr rule_error() const noexcept { return rule_error_; }
  void forget_rule_error() noexcept { rule_error_ = nullptr; }

 private:
  [[nodiscard]] std::size_t live() const noexcept { return progress_.added - progress_.ended(); }
  [[nodiscard]] bool has_too_many_failures() const noexcept;
  void look_whether_complete(bool one_has_ended) noexcept;
  void end_with(group_end end) noexcept;

  const group_rules rules_;
  group_end end_ = group_end::not_yet;
  std::deque<std::size_t> to_be_retried_;  // their rest is over
  std::exception_ptr rule_error_;
  // What every instance changes is in one cache line.
  alignas(64) group_progress progress_;
  std::size_t tickets_ = 0;
  std::size_t next_fresh_ = 0;  // lowest index that was never begun
};

// Retries first: they have the lower index, and others may wait for them.
inline std::optional<std::size_t> group_state::start_next() noexcept {
  if (!can_start()) return std::nullopt;
  ++progress_.running;
  if (to_be_retried_.empty()) return next_fresh_++;
  const std::size_t index = to_be_retried_.front();
  to_be_retried_.pop_front();
  return index;
}

// Retries that are due have their room, but it does not wait for somebody to see to them.
inline bool group_state::start_added(std::size_t index) noexcept {
  const std::size_t before = progress_.running + to_be_retried_.size();
  const bool has_room = rules_.max_running == 0 || before < rules_.max_running;
  if (next_fresh_ != index || !has_room) return false;
  ++progress_.running;
  ++next_fresh_;
  return true;
}

}  // namespace flow
}  // namespace weft
