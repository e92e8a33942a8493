#include <weft/flow/group_state.hpp>

#include <cmath>

#include <weft/base/assert.hpp>

namespace weft {

std::string_view to_string(group_end end) noexcept {
  switch (end) {
    case group_end::not_yet:
      return "not yet";
    case group_end::all_ended:
      return "all ended";
    case group_end::enough:
      return "enough";
    case group_end::completed:
      return "completed";
    case group_end::cancelled:
      return "cancelled";
    case group_end::timed_out:
      return "timed out";
    case group_end::failures:
      return "too many failures";
    case group_end::bad_rule:
      return "the join rule threw";
  }
  return "unknown";
}

namespace flow {

group_state::group_state(const group_rules& rules) : rules_(rules) {
  if (rules_.join.fires_at_once()) end_with(group_end::enough);
}

bool group_state::open_ticket() noexcept {
  if (is_complete()) return false;
  ++tickets_;
  return true;
}

void group_state::close_ticket() noexcept {
  WEFT_ASSERT(tickets_ > 0, "a ticket was closed that was never opened");
  --tickets_;
  look_whether_complete(false);
}

void group_state::expect_no_more() noexcept { look_whether_complete(false); }

group_state::step group_state::attempt_ended(std::size_t /*index*/, outcome_kind how,
                                             unsigned attempts) noexcept {
  if (is_retried(how, attempts)) {
    --progress_.running;
    return step::rests;
  }
  ended(how);
  return step::ended;
}

void group_state::ended(outcome_kind how) noexcept {
  --progress_.running;
  switch (how) {
    case outcome_kind::value:
      ++progress_.values;
      break;
    case outcome_kind::cancelled:
      ++progress_.cancelled;
      break;
    case outcome_kind::error:
      ++progress_.errors;
      break;
    case outcome_kind::timed_out:
      ++progress_.timed_out;
      break;
  }
  look_whether_complete(true);
}

void group_state::values_ended(std::size_t count) noexcept {
  if (count == 0) return;
  progress_.running -= count;
  progress_.values += count;
  look_whether_complete(true);
}

bool group_state::retry(std::size_t index) {
  if (is_complete()) return false;
  to_be_retried_.push_back(index);
  return true;
}

bool group_state::stops_running() const noexcept {
  switch (end_) {
    case group_end::not_yet:
    case group_end::all_ended:
      return false;
    case group_end::enough:
      return rules_.join.rest() == rest::cancel;
    default:
      return true;
  }
}

bool group_state::is_joinable() const noexcept {
  return is_complete() && (progress_.running == 0 || !stops_running());
}

bool group_state::has_too_many_failures() const noexcept {
  if (!rules_.tolerated || progress_.failures() <= rules_.tolerated->count) return false;
  if (rules_.tolerated->percent == 0) return true;
  // A percentage of what is not known yet.
  if (tickets_ > 0 || (rules_.instances_add_others && live() > 0)) return false;
  const double share = rules_.tolerated->percent / 100 * static_cast<double>(progress_.added);
  // Rounded, so that 10 percent of 30 is 3.
  return static_cast<double>(progress_.failures()) > std::floor(share + 1e-9);
}

void group_state::look_whether_complete(bool one_has_ended) noexcept {
  if (is_complete()) return;
  if (has_too_many_failures()) return end_with(group_end::failures);
  if (one_has_ended) {
    try {
      if (rules_.join.fires(progress_)) return end_with(group_end::enough);
    } catch (...) {
      rule_error_ = std::current_exception();
      return end_with(group_end::bad_rule);
    }
  }
  if (live() == 0 && tickets_ == 0) end_with(group_end::all_ended);
}

void group_state::end_with(group_end end) noexcept {
  if (is_complete()) return;
  end_ = end;
  const std::size_t withdrawn = live() - progress_.running;
  (end == group_end::timed_out ? progress_.timed_out : progress_.cancelled) += withdrawn;
  next_fresh_ = progress_.added;
  to_be_retried_.clear();
}

}  // namespace flow
}  // namespace weft
